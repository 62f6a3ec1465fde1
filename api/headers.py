"""The headers that every answer of the API has, and what of it may be kept."""

SHARED = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
UNSIGNED = {  # of what has an ETag, where no token was sent: kept by anybody, and asked about each time
    "Cache-Control": "no-cache",
    "Vary": "Authorization, Accept-Encoding",
}
