# A bot for Rage in bash: one JSON object a line in, one out. Standard error is its log.
# It bids 0 and plays the first card it may.
while IFS= read -r line; do
    case $line in
        *'"type":"start"'*) echo '{"ready":true}' ;;
        *'"type":"end"'*) exit 0 ;;
        *)
            [[ $line =~ \"id\":([0-9]+) ]] && id=${BASH_REMATCH[1]}
            [[ $line =~ \"legal\":\[([^],]*) ]] && echo "{\"id\":$id,\"move\":${BASH_REMATCH[1]}}"
            ;;
    esac
done
