import { type Answer, type CommandCall, defineCommand, EXIT_NO, EXIT_UNUSABLE } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { CONNECTION_OPTIONS, withConnection } from '../connection/connect.ts'
import { readWait } from '../input/durations.ts'

const TRACE_OPTIONS = {
  ...CONNECTION_OPTIONS,
  within: { value: 'TIME', summary: 'how long to wait for it, 1s to 2m; default 30s' },
} as const
const USUAL_WAIT = '30s'

/** `portcullis trace dial`. */
export const TRACE_DIAL = defineCommand({
  operands: 'IDENTITY SERVICE',
  options: TRACE_OPTIONS,
  hasJson: true,
  details: `Waits for a client to dial, and prints what each router on the way answered, and when. Where no client could ask
now, it says so at once. Asks a running controller: as the login of portcullis login, or with --url and
PORTCULLIS_ADMIN_USERNAME and PORTCULLIS_ADMIN_PASSWORD. Nothing is written.`,
  examples: ['portcullis trace dial laptop payroll', 'portcullis trace dial laptop payroll --within 2m --json'],
  exitCodes: {
    0: 'the dial got through',
    [EXIT_NO]: 'it stopped, or none came',
    [EXIT_UNUSABLE]: 'options that cannot be used',
  },
  run: followDial,
})

/** Follows the next dial of an identity to a service. Throws {@link UsageError} without both. */
function followDial(call: CommandCall<keyof typeof TRACE_OPTIONS>): Promise<Answer> {
  const { operands, options, terminal } = call
  const [identity, service] = operands
  if (identity === undefined || service === undefined || operands.length !== 2) {
    throw new UsageError('trace dial takes IDENTITY and SERVICE, such as: portcullis trace dial laptop payroll')
  }
  const within = options.value('within') ?? USUAL_WAIT
  const withinSeconds = readWait({ name: '--within', value: within })
  return withConnection(call, async ({ portcullis }) => {
    terminal.tell(`waiting ${within} for a dial of ${identity} to ${service}`)
    const { data } = await portcullis.call('POST /trace-dial', { body: { identity, service, withinSeconds } })
    return { text: data.text, value: data, code: data.outcome === 'connected' ? 0 : EXIT_NO }
  })
}
