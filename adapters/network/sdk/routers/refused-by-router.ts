import { meaningOf, type RouterRefusal } from '../../../../src/data-plane.ts'
import { EDGE_HEADER, textIn } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readText, readUint32 } from '../../channel/header-values.ts'
import { ConnectionFailure } from '../connection-failure.ts'

/** Characters of a router's words that go into an error. */
const LONGEST_TEXT = 1000

/** A router refused a request, or cut a connection. */
export class RefusedByRouter extends ConnectionFailure {
  /** Whether a new session may help. */
  readonly isStale: boolean
  /** Whether the router names the reason by its number, as it does where it cuts by itself. */
  readonly hasCode: boolean

  constructor(message: Frame, service: string) {
    const refusal = refusalIn(message)
    const meaning = meaningOf(refusal)
    const said = refusal.text === '' ? 'the router does not know the session' : refusal.text
    super(meaning === 'STALE_SESSION' ? 'ACCESS_DENIED' : meaning, `${service}: ${said}`, {
      failingPostureChecks: refusal.failingPostureChecks,
    })
    this.isStale = meaning === 'STALE_SESSION'
    this.hasCode = refusal.code !== undefined
  }
}

/** Why a router closed or refused a connection, as far as it says. */
function refusalIn(message: Frame): RouterRefusal {
  const said = structuredError(message)
  return {
    // Some routers shorten the words of the body for endpoints that read nothing else.
    text: (said.message ?? textIn(message)).slice(0, LONGEST_TEXT),
    code: said.code ?? readUint32(message.headers, EDGE_HEADER.errorCode),
    failingPostureChecks: said.failingPostureCheckIds ?? [],
  }
}

interface StructuredError {
  readonly message?: string
  readonly code?: number
  readonly failingPostureCheckIds?: readonly string[]
}

function structuredError({ headers }: Frame): StructuredError {
  const text = readText(headers, EDGE_HEADER.error)
  if (text === undefined) return {}
  try {
    const said: unknown = JSON.parse(text)
    if (typeof said !== 'object' || said === null) return {}
    // An object from JSON has members of any kind.
    const { message, code, failingPostureCheckIds: ids } = said as Readonly<Record<string, unknown>>
    return {
      ...(typeof message === 'string' && { message }),
      ...(typeof code === 'number' && { code }),
      ...(Array.isArray(ids) && { failingPostureCheckIds: ids.filter((id) => typeof id === 'string') }),
    }
  } catch {
    return {}
  }
}
