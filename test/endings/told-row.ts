import type { Cell } from './ending.ts'
import type { Way } from './ways.ts'

/** The columns of the guide, with those of the table that each stands for. */
const TOLD: readonly (readonly [string, RegExp])[] = [
  ['API session', /^(?:client|management) API \(zt\)$/],
  ['tokens', /^(?:client API \(bearer\)|management API \(bearer\)|refresh token|exchange of an access token)$/],
  ['login under way', /^(?:authorization code|finished login without code|login with one of two factors)$/],
  ['service session', /^service session shown$/],
  ['its circuits', /^running circuit that it dialed/],
  ['what it hosts', /^(?:running circuit to what it hosts|dial of others to its terminator)/],
  ['event stream', /^event stream$/],
  ['new login', /^new login$/],
]

/** How the guide calls the ways to log in. */
const CALLED: Readonly<Record<Way, string>> = {
  password: 'password',
  totp: 'password and code',
  cert: 'own certificate',
  ca: 'certificate of a CA',
  claim: 'external id in a certificate',
  jwt: 'external token',
  signed: 'password and external token',
}

/** The row of the guide for an ending: for each of its columns whether that ends, all of it or a part, waits for a factor, or goes on. */
export function toldRow(cells: readonly Cell[]): string {
  const told = TOLD.map(([, columns]) => {
    const concerned = cells.filter(({ column }) => columns.test(column))
    if (concerned.length === 0) return '—'
    if (concerned.every(({ expected }) => expected)) return 'goes on'
    if (concerned.every(({ waits }) => waits)) return 'waits'
    return concerned.some(({ expected }) => expected) ? 'in part' : 'ends'
  })
  return told.join(' | ')
}

/** The row of an ending in the text of the guide; where it differs by how somebody logged in, the one of that way. */
export function rowInGuide(guide: string, ending: string, way: Way): string | undefined {
  const rows = guide
    .split('\n')
    .filter((line) => line.startsWith(`| ${ending} |`) || line.startsWith(`| ${ending}, by `))
  const [row] =
    rows.length === 1
      ? rows
      : rows.filter((line) =>
          line
            .split(' | ')[0]
            ?.split(/, (?:by |or )/)
            .includes(CALLED[way]),
        )
  return row?.split(' | ').slice(1).join(' | ').replace(/ \|$/, '')
}
