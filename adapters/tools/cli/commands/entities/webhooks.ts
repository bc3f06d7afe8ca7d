import { visibleLine } from '../../../../../src/base/text.ts'
import type { DeliveryReport } from '../../../../../src/index.ts'
import { type Answer, type CommandCall, defineCommand, EXIT_NO } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, type Connection, withConnection } from '../../connection/connect.ts'
import { findEntity } from './entity-pages.ts'

const ON_WEBHOOK = {
  operands: 'NAME|ID',
  options: CONNECTION_OPTIONS,
  hasJson: true,
  details: CONNECTION_DETAILS,
  exitCodes: { 0: 'done' },
} as const
const ON_DEAD_LETTERS = { ...ON_WEBHOOK, operands: 'NAME|ID [RECORD...]' } as const

/** `portcullis webhooks secret`. */
export const WEBHOOK_SECRET = defineCommand({
  ...ON_WEBHOOK,
  details: `Messages are signed by the secret of before as well, for a day. A new webhook has a secret that nobody knows until this is
called. ${CONNECTION_DETAILS}`,
  examples: ['portcullis webhooks secret tickets > tickets.secret'],
  run: (call) =>
    withWebhook(call, 'webhooks secret', async ({ portcullis }, params) => {
      const { data } = await portcullis.call('POST /webhooks/{id}/secret', { params })
      return { text: data.secret, value: data }
    }),
})

/** `portcullis webhooks deliveries`. */
export const WEBHOOK_DELIVERIES = defineCommand({
  ...ON_WEBHOOK,
  exitCodes: { 0: 'the last attempt was answered, and there is no dead letter' },
  run: (call) =>
    withWebhook(call, 'webhooks deliveries', async ({ portcullis }, params) => {
      const { data } = await portcullis.call('GET /webhooks/{id}/deliveries', { params })
      const isWell = data.failingSince === null && data.deadCount === 0
      return { text: reportText(data), value: data, code: isWell ? 0 : EXIT_NO }
    }),
})

/** `portcullis webhooks resend`. */
export const WEBHOOK_RESEND = defineCommand({
  ...ON_DEAD_LETTERS,
  run: (call) =>
    withWebhook(call, 'webhooks resend', async ({ portcullis }, params, events) => {
      const { data } = await portcullis.call('POST /webhooks/{id}/deliveries', { params, ...chosen(events) })
      return { text: `${data.count} dead letters are sent again`, value: data }
    }),
})

/** `portcullis webhooks drop`. */
export const WEBHOOK_DROP = defineCommand({
  ...ON_DEAD_LETTERS,
  run: (call) =>
    withWebhook(call, 'webhooks drop', async ({ portcullis }, params, events) => {
      const { data } = await portcullis.call('DELETE /webhooks/{id}/deliveries', { params, ...chosen(events) })
      return { text: `${data.count} dead letters are dropped`, value: data }
    }),
})

type WebhookCall = CommandCall<keyof typeof CONNECTION_OPTIONS>

function chosen(events: readonly string[]) {
  return events.length === 0 ? {} : { body: { events: [...events] } }
}

/** Asks about the webhook of the first operand. Throws {@link UsageError}. */
function withWebhook(
  call: WebhookCall,
  command: string,
  ask: (connection: Connection, params: { readonly id: string }, events: readonly string[]) => Promise<Answer>,
): Promise<Answer> {
  const [idOrName, ...events] = call.operands
  if (idOrName === undefined) throw new UsageError(`${command} takes a NAME or ID`)
  return withConnection(call, async (connection) => {
    const { id } = await findEntity(connection, 'webhooks', idOrName)
    return ask(connection, { id }, events)
  })
}

function reportText({ delivered, deliveredAt, failingSince, problem, missedTo, ...rest }: DeliveryReport): string {
  const { waitingCount, deadCount, waiting, dead } = rest
  const line = ({ event, attempts, dueAt, problem: why }: DeliveryReport['dead'][number]) =>
    `  ${event}  ${attempts} attempts${dueAt === null ? '' : `, next ${dueAt}`}${why === null ? '' : `: ${visibleLine(why)}`}`
  return [
    `delivered: ${delivered}${deliveredAt === null ? '' : `, the last at ${deliveredAt}`}`,
    ...(failingSince === null ? [] : [`failing since ${failingSince}: ${visibleLine(problem ?? '')}`]),
    ...(missedTo === null ? [] : [`not told of what the audit trail no longer holds, up to ${missedTo}`]),
    `waiting: ${waitingCount}`,
    ...waiting.map(line),
    `dead letters: ${deadCount}`,
    ...dead.map(line),
  ].join('\n')
}
