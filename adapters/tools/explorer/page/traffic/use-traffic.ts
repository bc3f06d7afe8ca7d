import { useEffect, useState } from 'preact/hooks'
import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'
import { isOfTraffic } from '../events/network-event.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { useApis } from '../session/session.ts'

/** Routers, links and circuits as they are now. */
export type Traffic = AnswerOf<PortcullisApi['GET /traffic']>['data']

/** The state of a router in a word. */
export function stateWord({ isOnline, isEnrolled }: { readonly isOnline: boolean; readonly isEnrolled: boolean }) {
  if (isOnline) return 'online'
  return isEnrolled ? 'offline' : 'not enrolled'
}

/** The classes of the mark beside the word. */
export const DOTS = { online: 'dot dot-online', offline: 'dot dot-down', 'not enrolled': 'dot' } as const

/** Milliseconds between two readings without events: bytes flow without any, and routers of other processes send none here. */
const READ_EVERY_MS = 15_000

/** Whose traffic is wanted; that of all where it is left out. */
export interface TrafficOf {
  readonly identity?: string
  readonly service?: string
  readonly router?: string
}

/** The traffic, read again as it changes; with `limit` circuits after a cursor. `version` changes where it is to be read again at once. */
export function useTraffic(of: TrafficOf = {}, limit = 1, cursor?: string, version = 0) {
  const { portcullis } = useApis()
  const query = { ...of, limit: String(limit), ...(cursor !== undefined && { cursor }) }
  return useAnswer(
    async (signal) => (await portcullis.call('GET /traffic', { query, signal })).data,
    [portcullis, JSON.stringify(query), version, useEvery(READ_EVERY_MS)],
    isOfTraffic,
  )
}

/** Counts up at intervals while the page is in sight: for answers that change without an event. */
function useEvery(ms: number): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setCount((before) => before + 1)
    }, ms)
    return () => clearInterval(timer)
  }, [ms])
  return count
}
