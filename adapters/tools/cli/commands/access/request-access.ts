import { visibleLine } from '../../../../../src/base/text.ts'
import type { AccessRequest, ApiClient, PortcullisApi } from '../../../../../src/client/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, withConnection } from '../../connection/connect.ts'
import { openedIdentity } from '../../connection/opened-identity.ts'
import { readDuration } from '../../input/durations.ts'
import { POSTURE, postureRoles } from './grant.ts'

const ASKER_OPTIONS = {
  ...CONNECTION_OPTIONS,
  identity: {
    value: 'FILE',
    variable: true,
    summary: 'the identity that asks: a file of portcullis tunnel enroll; default: the login',
  },
} as const
const NOTE = { value: 'TEXT', summary: 'a note to the identity that asked' } as const

/** `portcullis request`. */
export const REQUEST = defineCommand({
  operands: 'SERVICE [dial|bind]',
  words: ['dial', 'bind'],
  options: {
    ...ASKER_OPTIONS,
    for: { value: 'DURATION', summary: 'how long the access is to last, such as 30m, 2h or 7d; 30d at most' },
    reason: { value: 'TEXT', summary: 'why, for people' },
  },
  hasJson: true,
  details: `Asks for access of the identity itself to a service. A person who may make service policies decides it, or a rule of the
controller's host at once. An open request ends by itself after a day. The answer is the same whether or not there is such a service.
${CONNECTION_DETAILS}`,
  examples: ["portcullis request prod-db --for 2h --reason 'INC-7' --identity laptop.json"],
  run: async (call) => {
    const { operands, options } = call
    const [service, word = 'dial', ...others] = operands
    const lasting = options.typed('for')
    const reason = options.typed('reason')
    if (service === undefined || others.length > 0 || (word !== 'dial' && word !== 'bind')) {
      throw new UsageError(
        'request takes SERVICE [dial|bind], such as: portcullis request prod-db --for 2h --reason INC-7',
      )
    }
    if (lasting === undefined || reason === undefined) throw new UsageError('request needs --for and --reason')
    const durationMs = readDuration({ name: '--for', value: lasting })
    const body = { service, type: word === 'dial' ? ('Dial' as const) : ('Bind' as const), durationMs, reason }
    const made = await asAsker(call, async (api) => (await api.call('POST /access-requests', { body })).data)
    call.terminal.tell(told(made))
    return { text: made.id, value: made }
  },
})

/** `portcullis requests`. */
export const REQUESTS = defineCommand({
  options: { ...ASKER_OPTIONS, all: { summary: 'also the requests that are decided, expired or withdrawn' } },
  hasJson: true,
  details: `Lists the open requests: of the identity itself, or of every identity for a caller that may make service policies.
${CONNECTION_DETAILS}`,
  examples: ['portcullis requests', 'portcullis requests --all --identity laptop.json'],
  run: async (call) => {
    const filter = call.options.flag('all') ? {} : { filter: 'state = "open"' }
    const query = { ...filter, sort: 'createdAt', limit: 500 }
    const { data } = await asAsker(call, (api) => api.call('GET /access-requests', { query }))
    return { text: data.map(told).join('\n'), value: data }
  },
})

/** `portcullis approve`. */
export const APPROVE = defineCommand({
  operands: 'ID',
  options: {
    ...CONNECTION_OPTIONS,
    for: { value: 'DURATION', summary: 'a shorter time than was asked for' },
    note: NOTE,
    posture: POSTURE,
  },
  hasJson: true,
  details: `Approves a request: makes the service policy that portcullis grant makes. The access begins now, and ends by itself.
${CONNECTION_DETAILS}`,
  examples: ["portcullis approve 4HcCQ2Yk1 --for 1h --note 'mind the replica'"],
  run: (call) => {
    const lasting = call.options.typed('for')
    const note = call.options.typed('note')
    const roles = postureRoles(call.options.typed('posture'))
    const body = {
      ...(lasting !== undefined && { durationMs: readDuration({ name: '--for', value: lasting }) }),
      ...(note !== undefined && { note }),
      ...(roles !== undefined && { postureCheckRoles: roles }),
    }
    return decided(call.operands, 'approve', (params) =>
      withConnection(call, ({ portcullis }) => portcullis.call('POST /access-requests/{id}/approve', { params, body })),
    )
  },
})

/** `portcullis refuse`. */
export const REFUSE = defineCommand({
  operands: 'ID',
  options: { ...CONNECTION_OPTIONS, note: NOTE },
  hasJson: true,
  details: CONNECTION_DETAILS,
  examples: ["portcullis refuse 4HcCQ2Yk1 --note 'use the replica'"],
  run: (call) => {
    const note = call.options.typed('note')
    const body = note === undefined ? {} : { note }
    return decided(call.operands, 'refuse', (params) =>
      withConnection(call, ({ portcullis }) => portcullis.call('POST /access-requests/{id}/refuse', { params, body })),
    )
  },
})

/** `portcullis withdraw`. */
export const WITHDRAW = defineCommand({
  operands: 'ID',
  options: ASKER_OPTIONS,
  hasJson: true,
  details: CONNECTION_DETAILS,
  examples: ['portcullis withdraw 4HcCQ2Yk1 --identity laptop.json'],
  run: (call) =>
    decided(call.operands, 'withdraw', (params) =>
      asAsker(call, (api) => api.call('POST /access-requests/{id}/withdraw', { params })),
    ),
})

type Api = ApiClient<PortcullisApi>
type Asker = CommandCall<keyof typeof ASKER_OPTIONS>

/** Asks as the identity of a file, or in a login. Throws {@link UsageError}. */
async function asAsker<T>(call: Asker, ask: (api: Api) => Promise<T>): Promise<T> {
  const file = call.options.value('identity')
  if (file === undefined) return withConnection(call, ({ portcullis }) => ask(portcullis))
  await using identity = await openedIdentity(file)
  return await ask(identity.portcullis)
}

/** Decides the request of the operand, and answers it. Throws {@link UsageError}. */
async function decided(
  operands: readonly string[],
  command: string,
  decide: (params: { readonly id: string }) => Promise<{ readonly data: AccessRequest }>,
): Promise<Answer> {
  const [id, ...others] = operands
  if (id === undefined || others.length > 0)
    throw new UsageError(`${command} takes the ID of a request: portcullis requests lists them`)
  const { data } = await decide({ id })
  return { text: told(data), value: data }
}

/** A request in one line. Its state comes before the texts of others, which could imitate it. */
function told({ id, identity, type, serviceFound, durationMs, reason, state, until, note, ...asked }: AccessRequest) {
  const end = until === null ? '' : ` until ${until}`
  const said = note === null ? '' : `: ${visibleLine(note)}`
  const service = serviceFound?.name ?? asked.service
  const wanted = `${type === 'Dial' ? 'dial' : 'bind'} ${visibleLine(service)} for ${durationMs / 60_000} min`
  const who = visibleLine(identity?.name ?? 'an identity')
  return `${id}  ${state}${end}${said} — ${who} asks to ${wanted}, because: ${visibleLine(reason)}`
}
