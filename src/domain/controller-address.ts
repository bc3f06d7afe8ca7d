const HOST_AND_PORT = /^(?:\[[0-9a-f:.]+\]|[^\s:[\]/?#@%\\]+):\d+$/i

/**
 * A controller's address is a host, an IPv6 one in brackets, and a port. Answers it; throws an `Error` on anything else,
 * which would otherwise stand in every enrollment token.
 */
export function requireAddress(address: string): string {
  if (HOST_AND_PORT.test(address) && URL.canParse(`https://${address}`)) return address
  throw new Error(`address takes host:port, such as controller.example.org:1280 or [::1]:1280: not '${address}'`)
}

/** The DNS name or IP address in a controller's address, an IPv6 one without brackets. */
export function hostOf(address: string): string {
  return new URL(`https://${address}`).hostname.replace(/^\[|\]$/g, '')
}
