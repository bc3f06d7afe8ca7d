/** A JSON answer. Bodies end with a line feed, as deployed clients have always seen them. */
export function jsonResponse(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonTextResponse(status, `${JSON.stringify(body)}\n`, headers)
}

/** A JSON answer that is written already, with its line feed. */
export function jsonTextResponse(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } })
}
