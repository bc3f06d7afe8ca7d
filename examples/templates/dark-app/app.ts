import type { IncomingMessage, ServerResponse } from 'node:http'

/** The app knows who calls, and nothing of networks. It listens on no port. */
export function payroll(request: IncomingMessage, response: ServerResponse): void {
  response.end(`salaries, for ${request.caller?.name}`)
}
