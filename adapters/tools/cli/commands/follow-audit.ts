import { setTimeout } from 'node:timers/promises'
import { readAnswer, requestFor } from '../../../../src/api-calls.ts'
import { LARGEST_PAGE } from '../../../../src/base/limits.ts'
import type { AuditPage, AuditRequest } from '../../../../src/index.ts'
import type { Connection } from '../connection/connect.ts'
import type { Terminal } from '../output.ts'

/** Reads a page of the audit trail. */
export type ReadAudit = (request: AuditRequest) => Promise<AuditPage>

/** How often a storage is asked for new records, ms. */
const RECORDS_LOOK_MS = 1000
/** A stream that ended is asked for again after this time, ms. */
const AGAIN_MS = 1000
/** Interval, ms, in which the login is used: an idle login ends. */
const IN_USE_MS = 300_000

/**
 * Prints records as a controller sends them, from `from` on or from now on, for as long as the login may read them. A stream that is cut
 * goes on where it was.
 */
export async function followStream(
  terminal: Terminal,
  { access: { baseUrl, fetch, token }, management, portcullis }: Connection,
  asked: AuditRequest,
  from: string | undefined,
): Promise<never> {
  let after = from ?? (await portcullis.call('GET /audit', { query: { limit: 1 } })).data.entries[0]?.id ?? ''
  const use = () => void management.call('GET /current-api-session').catch(() => undefined)
  setInterval(use, IN_USE_MS).unref()
  for (let isAgain = false; ; isAgain = true) {
    if (isAgain) await setTimeout(AGAIN_MS)
    const request = { query: { ...asked, after }, headers: { accept: 'text/event-stream' } }
    const response = await fetch(requestFor(`${baseUrl}/portcullis/v1`, 'GET /audit', request, token)).catch(
      (error: unknown) => {
        // A controller that was there may be starting again.
        if (!isAgain) throw error
      },
    )
    if (response === undefined || (isAgain && response.status >= 500)) continue
    if (!response.ok || response.body === null) {
      await readAnswer(response)
      continue
    }
    try {
      for await (const { id, data } of eventsIn(response.body)) {
        terminal.print(data)
        after = id
      }
    } catch {
      // It was cut: it is asked for again.
    }
  }
}

interface SentEvent {
  readonly id: string
  readonly data: string
}

/** The events of a stream. Comments only keep the stream alive, and are skipped. */
async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of body) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const [, id] = /^id: (.*)$/m.exec(event) ?? []
      const [, data] = /^data: (.*)$/m.exec(event) ?? []
      if (id !== undefined && data !== undefined) yield { id, data }
    }
  }
}

/** The same from a storage, which has to be asked for new records. */
export async function followStorage(
  terminal: Terminal,
  read: ReadAudit,
  asked: AuditRequest,
  from: string | undefined,
): Promise<never> {
  let after = from ?? (await read({ limit: 1 })).entries[0]?.id ?? ''
  for (;;) {
    const page = await read({ ...asked, after, limit: LARGEST_PAGE })
    for (const entry of page.entries) terminal.print(JSON.stringify(entry))
    // A page names the beginning of the next page, even without a wanted record.
    const place = page.next ?? page.entries.at(-1)?.id
    if (place !== undefined) after = place
    if (page.next === null) await setTimeout(RECORDS_LOOK_MS)
  }
}
