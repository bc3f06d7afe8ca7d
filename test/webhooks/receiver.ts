import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { EventMessage } from 'portcullis'
import { onTestFinished } from 'vitest'

/** A message as it arrived. */
export interface Received {
  readonly id: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly event: Pick<EventMessage, 'type' | 'timestamp' | 'data'>
}

/** How a receiver answers a message. */
export type Answering = (received: Received, response: ServerResponse) => void

/** Answers a status without a body. */
export const answer =
  (status: number): Answering =>
  (_received, response) =>
    response.writeHead(status).end()

/** An endpoint on the loopback that keeps what arrives; `answering` may be changed at any time. */
export async function receiver(answering: Answering = answer(204)) {
  const received: Received[] = []
  const made = { url: '', received, answering }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const message = {
      id: String(request.headers['webhook-id']),
      headers: request.headers,
      body,
      event: JSON.parse(body),
    }
    received.push(message)
    made.answering(message, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return made
}

/** The signature of a message as the convention computes it. */
export function signatureOf({ headers, body }: Received, secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`
}

/** The events of services, as `created a`, in the order of arrival. */
export function storyOf(received: readonly Received[]): readonly string[] {
  return received.flatMap(({ event: { type, data } }) =>
    data.entity?.kind === 'services' ? [`${type.replace('entity.', '')} ${data.entity.name}`] : [],
  )
}
