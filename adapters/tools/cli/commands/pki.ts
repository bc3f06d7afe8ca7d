import { existsSync } from 'node:fs'
import type { Operator, PkiStatus } from '../../../../src/index.ts'
import { openPkiDirectory } from '../../../web/node/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, withConnection } from '../connection/connect.ts'
import { readKeep } from '../input/durations.ts'
import { readsStorage, STORAGE_OPTIONS, withOperator } from '../input/open-storage.ts'
import { holdersOf, isEmpty } from '../output.ts'

/** The options of every command on keys. */
export const PKI_OPTIONS = {
  ...CONNECTION_OPTIONS,
  ...STORAGE_OPTIONS,
  pki: {
    value: 'DIR',
    variable: true,
    summary: 'with a storage: the folder of certificates and keys that it is served with; default .portcullis/pki',
  },
} as const

const DETAILS = `Beside a folder .portcullis, or with --storage, it works on the storage itself, served or not, with the certificates of
--pki: processes that serve it follow within seconds. With --url or --profile it asks a running controller. ${CONNECTION_DETAILS}`

const FORCE = { summary: 'identities and routers that have no other certificate may be locked out' } as const

/** `portcullis pki status`. */
export const PKI_STATUS = defineCommand({
  options: {
    ...PKI_OPTIONS,
    outstanding: { summary: 'also list who has none of the latest authority yet, why, and what helps; at most 500' },
  },
  hasJson: true,
  details: DETAILS,
  examples: ['portcullis pki status', 'portcullis pki status --outstanding --json'],
  run: showKeys,
})

/** `portcullis pki rotate`. */
export const PKI_ROTATE = defineCommand({
  operands: 'server|signing|root',
  words: ['server', 'signing', 'root'],
  options: {
    ...PKI_OPTIONS,
    keep: {
      value: 'DURATION',
      summary: 'how long certificates of the authorities before are good; default 400d at most',
    },
    'void-enrollments': { summary: 'for server: tokens of outstanding enrollments may become void' },
    force: FORCE,
  },
  hasJson: true,
  details: `The root before vouches for the next one where its key is at hand (ca.key), so that devices and routers go on. Where it is
not, the next root is announced: pki change lets it sign once devices know it. ${DETAILS}`,
  examples: ['portcullis pki rotate root --keep 90d', 'portcullis pki rotate server --void-enrollments'],
  run: rotateKeys,
})

/** `portcullis pki change`. */
export const PKI_CHANGE = defineCommand({
  operands: 'ID',
  options: {
    ...PKI_OPTIONS,
    keep: { value: 'DURATION', summary: 'how long its certificates are good from now on; 0 ends them' },
    issues: { summary: 'let an announced authority sign' },
    force: FORCE,
  },
  hasJson: true,
  details: `An end that comes within a day is refused while identities or routers have no other certificate, with their number and names;
so is an announced authority whose root somebody does not know yet. --force says that it is meant. ${DETAILS}`,
  examples: ['portcullis pki change 3f2a… --keep 30d', 'portcullis pki change 3f2a… --issues'],
  run: changeAuthority,
})

/** `portcullis pki bundle`. */
export const PKI_BUNDLE = defineCommand({
  options: PKI_OPTIONS,
  hasJson: true,
  details: DETAILS,
  examples: ['portcullis pki bundle > cas.pem'],
  run: printBundle,
})

type PkiCall = CommandCall<keyof typeof PKI_OPTIONS>

type OperatorKeys = Operator['keys']

/** The keys of a network, by a running controller or by its storage. */
interface Keys extends OperatorKeys {
  bundle(): Promise<string>
}
type RotationRequest = Parameters<Keys['rotate']>[0]

const DEFAULT_PKI = '.portcullis/pki'

/** Shows the keys, and how far a change of them is. Throws {@link UsageError}. */
function showKeys(call: CommandCall<keyof typeof PKI_OPTIONS | 'outstanding'>): Promise<Answer> {
  return withKeys(call, async (keys) => {
    const status = await keys.status()
    if (!call.options.flag('outstanding')) return { text: textOf(status), value: status }
    const outstanding = await keys.outstanding()
    const list = outstanding.map(
      ({ type, name, id, askedAt, endsAt, program, reason, help }) =>
        `  ${type} ${name} (${id})${program && `, ${program}`}: ${reason}${askedAt === null ? '' : `, asked at ${askedAt}`}${endsAt === null ? '' : `, let in until ${endsAt}`}; ${help}`,
    )
    return { text: [textOf(status), ...list].join('\n'), value: { ...status, outstanding } }
  })
}

/** Makes the next key. Throws {@link UsageError}. */
function rotateKeys(
  call: CommandCall<keyof typeof PKI_OPTIONS | 'keep' | 'void-enrollments' | 'force'>,
): Promise<Answer> {
  const [what, ...others] = call.operands
  if ((what !== 'server' && what !== 'signing' && what !== 'root') || others.length > 0) {
    throw new UsageError('pki rotate takes one of server, signing and root')
  }
  const keep = call.options.setting('keep')
  const request: RotationRequest = {
    what,
    ...(keep !== undefined && { keepUntil: from(readKeep(keep)) }),
    ...(call.options.flag('void-enrollments') && { voidsEnrollments: true }),
    ...(call.options.flag('force') && { locksOut: true }),
  }
  return withKeys(call, async (keys) => {
    const status = await namingForce(keys.rotate(request))
    return { text: textOf(status), value: status }
  })
}

/** Changes an authority. Throws {@link UsageError}. */
function changeAuthority(call: CommandCall<keyof typeof PKI_OPTIONS | 'keep' | 'issues' | 'force'>): Promise<Answer> {
  const [id, ...others] = call.operands
  if (id === undefined || others.length > 0) throw new UsageError('pki change takes the id of one authority')
  const keep = call.options.setting('keep')
  const issues = call.options.flag('issues')
  if (keep === undefined && !issues) throw new UsageError('pki change needs --keep or --issues')
  const request = {
    ...(keep !== undefined && { goodUntil: from(readKeep(keep)) }),
    ...(issues && { issues }),
    ...(call.options.flag('force') && { locksOut: true }),
  }
  return withKeys(call, async (keys) => {
    const status = await namingForce(keys.change(id, request))
    return { text: textOf(status), value: status }
  })
}

/** Prints the trust bundle. Throws {@link UsageError}. */
function printBundle(call: PkiCall): Promise<Answer> {
  return withKeys(call, async (keys) => {
    const bundle = (await keys.bundle()).trimEnd()
    return { text: bundle, value: { bundle } }
  })
}

function withKeys(call: PkiCall, work: (keys: Keys) => Promise<Answer>): Promise<Answer> {
  if (!readsStorage(call)) {
    return withConnection(call, ({ portcullis }) =>
      work({
        status: async () => (await portcullis.call('GET /pki')).data,
        outstanding: async () => (await portcullis.call('GET /pki/outstanding')).data,
        rotate: async (body) => (await portcullis.call('POST /pki/rotations', { body })).data,
        change: async (id, body) =>
          (await portcullis.call('PATCH /pki/authorities/{id}', { params: { id }, body })).data,
        bundle: async () => (await portcullis.call('GET /pki')).data.bundle,
      }),
    )
  }
  const folder = call.options.value('pki') ?? DEFAULT_PKI
  // Opening would make missing files: a new root has nothing to do with the network of the storage.
  if (!existsSync(folder)) {
    throw new UsageError(`there is no folder '${folder}': --pki names the folder that the storage is served with`)
  }
  const pki = openPkiDirectory(folder)
  return withOperator(
    call.options,
    async ({ keys }) => work({ ...keys, bundle: async () => (await keys.status()).bundle }),
    { pki },
  )
}

/** A refusal names the member of a request; here it is an option. */
async function namingForce<T>(changed: Promise<T>): Promise<T> {
  try {
    return await changed
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('locksOut')) throw error
    throw new UsageError(error.message.replace('say locksOut', 'say --force'), { cause: error })
  }
}

/** The instant that lies a number of milliseconds ahead, RFC 3339. */
function from(aheadMs: number): string {
  return new Date(Date.now() + aheadMs).toISOString()
}

function textOf({ authorities, server, progress, due, hasRootKey, canKeepKeys }: PkiStatus): string {
  const lines = authorities.map(({ id, state, signing, root, issuesFrom, goodUntil, isVouchedFor }) => {
    const facts = [
      `${signing.subject} until ${day(signing.expiresAt)}`,
      `${root.subject} until ${day(root.expiresAt)}`,
      ...(state === 'next' ? [issuesFrom === null ? 'announced' : `signs from ${issuesFrom}`] : []),
      ...(goodUntil === null ? [] : [`good until ${goodUntil}`]),
      ...(isVouchedFor ? [] : ['not vouched for by the root before']),
    ]
    return `${state.padEnd(8)} ${id}  ${facts.join('; ')}`
  })
  const { outstandingEnrollments: count } = server
  return [
    ...lines,
    `server   ${server.id}  ${server.hosts.join(', ')} until ${day(server.expiresAt)}; ${count} outstanding enrollments depend on its key`,
    ...(progress === null
      ? []
      : [`renewed: ${shareOf(progress.identities)} certificates of identities, ${shareOf(progress.routers)} routers`]),
    ...dueLines(due),
    ...(hasRootKey
      ? []
      : ['the key of the root is not here: no signing authority can follow, and no root be vouched for']),
    ...(canKeepKeys ? [] : ['keys that are made cannot be kept here']),
  ].join('\n')
}

function dueLines({ outstanding, ending, ended }: PkiStatus['due']): readonly string[] {
  return [
    ...(isEmpty(outstanding)
      ? []
      : [`outstanding: ${holdersOf(outstanding)}; portcullis pki status --outstanding says why`]),
    ...(isEmpty(ending) ? [] : [`let in for less than 30 days still: ${holdersOf(ending)}`]),
    ...(isEmpty(ended) ? [] : [`locked out, for their certificates have ended: ${holdersOf(ended)}`]),
  ]
}

function shareOf({ renewed, outstanding }: { readonly renewed: number; readonly outstanding: number }): string {
  return `${renewed} of ${renewed + outstanding}`
}

function day(instant: string | null): string {
  return instant?.slice(0, 10) ?? 'unknown'
}
