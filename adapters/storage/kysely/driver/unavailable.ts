import { StorageUnavailable, type UnavailableReason } from '../../../../src/storage.ts'

/** A reason that lies in the database. */
type DatabaseReason = Exclude<UnavailableReason, 'closed'>

/** Primary result codes of SQLite: 5 busy, 6 locked, 8 read-only, 10 input/output, 11 corrupt, 13 full, 14 cannot open, 26 no database. */
const SQLITE_CODES: Readonly<Record<number, DatabaseReason>> = {
  5: 'busy',
  6: 'busy',
  8: 'read-only',
  10: 'unreachable',
  11: 'corrupt',
  13: 'full',
  14: 'unreachable',
  26: 'corrupt',
}

/** The same by name, as other drivers have them. */
const SQLITE_NAMES: readonly (readonly [string, DatabaseReason])[] = [
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_READONLY', 'read-only'],
  ['SQLITE_IOERR', 'unreachable'],
  ['SQLITE_CORRUPT', 'corrupt'],
  ['SQLITE_FULL', 'full'],
  ['SQLITE_CANTOPEN', 'unreachable'],
  ['SQLITE_NOTADB', 'corrupt'],
]

/** SQLSTATEs of PostgreSQL, or the classes that they begin with. */
const SQL_STATES: readonly (readonly [string, DatabaseReason])[] = [
  ['08', 'unreachable'],
  ['57P', 'unreachable'],
  ['57014', 'busy'],
  ['25006', 'read-only'],
  ['25P03', 'unreachable'],
  ['53100', 'full'],
  ['53', 'busy'],
  ['55P03', 'busy'],
  ['40', 'busy'],
  ['58', 'unreachable'],
  ['XX001', 'corrupt'],
  ['XX002', 'corrupt'],
]

const SOCKET_ERRORS =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ENOENT|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|EACCES)$/
const LOST_CONNECTION = /connection terminated|connection ended|not queryable|has been discarded|client was closed/i
const NO_CONNECTION_IN_TIME = /timeout exceeded when trying to connect|connection timeout/i

/** The storage's word for a driver's error; undefined for an error that is not about the state of the database. */
export function asUnavailable(error: unknown): StorageUnavailable | undefined {
  if (error instanceof StorageUnavailable) return error
  if (!(error instanceof Error)) return undefined
  const reason = reasonOf(error)
  return (
    reason && new StorageUnavailable(reason, `the database is ${WORDS[reason]}: ${error.message}`, { cause: error })
  )
}

const WORDS: Readonly<Record<DatabaseReason, string>> = {
  busy: 'busy',
  full: 'full',
  'read-only': 'read-only',
  corrupt: 'damaged',
  unreachable: 'away',
}

function reasonOf(error: Error): DatabaseReason | undefined {
  const resultCode: unknown = Reflect.get(error, 'errcode')
  // The primary code is in the lowest byte of an extended one.
  if (typeof resultCode === 'number') return SQLITE_CODES[resultCode & 0xff]
  const code: unknown = Reflect.get(error, 'code')
  if (typeof code === 'string') {
    if (SOCKET_ERRORS.test(code)) return 'unreachable'
    const known = code.startsWith('SQLITE_') ? SQLITE_NAMES : SQL_STATES
    const found = known.find(([prefix]) => code.startsWith(prefix))
    if (found !== undefined) return found[1]
  }
  if (LOST_CONNECTION.test(error.message)) return 'unreachable'
  return NO_CONNECTION_IN_TIME.test(error.message) ? 'busy' : undefined
}
