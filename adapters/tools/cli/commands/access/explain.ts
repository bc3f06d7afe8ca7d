import { didYouMean } from '../../../../../src/base/arguments.ts'
import { type Explanation, explanationText } from '../../../../../src/index.ts'
import { type Answer, type CommandCall, defineCommand, EXIT_NO, EXIT_UNUSABLE } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { CONNECTION_OPTIONS, withConnection } from '../../connection/connect.ts'
import { readsStorage, STORAGE_OPTIONS, withOperator } from '../../input/open-storage.ts'

/** The options of `portcullis explain`. */
export const EXPLAIN_OPTIONS = {
  ...CONNECTION_OPTIONS,
  ...STORAGE_OPTIONS,
  identity: { value: 'NAME', summary: 'id or name of the identity, instead of the words' },
  service: { value: 'NAME', summary: 'id or name of the service, instead of the words' },
  type: {
    value: 'dial|bind',
    choices: ['dial', 'bind'],
    summary: 'the kind of access, instead of the words; default dial',
  },
} as const

/** `portcullis explain`. */
export const EXPLAIN = defineCommand({
  operands: '[IDENTITY dial|bind SERVICE]',
  words: ['dial', 'bind'],
  options: EXPLAIN_OPTIONS,
  hasJson: true,
  details: `Prints the answer in sentences, and what would change it. Beside a folder .portcullis, or with --storage, it reads
the storage itself, served or not: whoever may read that needs no login. With --url or --profile it asks a running
controller: as the login of portcullis login, or with PORTCULLIS_ADMIN_USERNAME and PORTCULLIS_ADMIN_PASSWORD. Nothing is
written.`,
  examples: [
    'portcullis explain laptop dial payroll',
    'portcullis explain laptop dial payroll --profile staging --json',
  ],
  exitCodes: {
    0: 'access is granted',
    [EXIT_NO]: 'access is denied',
    [EXIT_UNUSABLE]: 'no identity or service has the name',
  },
  run: explainAccess,
})

type ExplainCall = CommandCall<keyof typeof EXPLAIN_OPTIONS>

/** The question as it was asked; identity and service by id or name. */
interface Question {
  readonly identity: string
  readonly service: string
  readonly type: 'Dial' | 'Bind'
}

/** Explains access, from a storage or by a running controller. Throws {@link UsageError}. */
async function explainAccess(call: ExplainCall): Promise<Answer> {
  const question = readQuestion(call)
  return readsStorage(call) ? fromStorage(call, question) : fromController(call, question)
}

function fromStorage({ options }: ExplainCall, { identity, service, type }: Question): Promise<Answer> {
  return withOperator(options, async (operator) => {
    const explanation = await operator.explain(identity, service, type)
    const text = explanationText(explanation)
    return { text, value: { ...explanation, text }, code: codeOf(explanation) }
  })
}

function fromController(call: ExplainCall, question: Question): Promise<Answer> {
  return withConnection(call, async ({ portcullis }) => {
    const { data } = await portcullis.call('POST /explain', { body: question })
    return { text: data.text, value: data, code: codeOf(data) }
  })
}

/** An unknown name is a typing mistake, not a denial. */
function codeOf({ allowed, reason }: Pick<Explanation, 'allowed' | 'reason'>): number {
  if (reason === 'identity-unknown' || reason === 'service-unknown') return EXIT_UNUSABLE
  return allowed ? 0 : EXIT_NO
}

function readQuestion({ options, operands }: ExplainCall): Question {
  if (operands.length !== 0 && operands.length !== 3) {
    throw new UsageError('explain takes IDENTITY dial|bind SERVICE, such as: portcullis explain laptop dial payroll')
  }
  const [identity, type, service] = operands
  const needed = (option: 'identity' | 'service', word: string | undefined): string => {
    const named = word ?? options.typed(option)
    if (named === undefined) throw new UsageError(`explain needs --${option}, or words: explain laptop dial payroll`)
    return named
  }
  return {
    identity: needed('identity', identity),
    service: needed('service', service),
    type: type === undefined ? readType('--type', options.typed('type') ?? 'dial') : readType('the second word', type),
  }
}

/** Reads the type of a question; `place` names its word or option in messages. */
function readType(place: string, value: string): Question['type'] {
  if (/^dial$/i.test(value)) return 'Dial'
  if (/^bind$/i.test(value)) return 'Bind'
  throw new UsageError(`${place} takes dial or bind, not '${value}'${didYouMean(value, ['dial', 'bind'])}`)
}
