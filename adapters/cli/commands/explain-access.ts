import { existsSync } from 'node:fs'
import { type Explanation, explanationText } from '../../../src/index.ts'
import { type Answer, type CommandCall, EXIT_NO, EXIT_UNUSABLE } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { withConnection } from '../connection/connect.ts'
import { DEFAULT_STORAGE_FILE, withOperator } from '../input/open-storage.ts'
import type { EXPLAIN_OPTIONS } from './explain-options.ts'

type ExplainCall = CommandCall<keyof typeof EXPLAIN_OPTIONS>

/** The question as it was asked; identity and service by id or name. */
interface Question {
  readonly identity: string
  readonly service: string
  readonly type: 'Dial' | 'Bind'
}

/** Explains access, from a storage or by a running controller. Throws {@link UsageError}. */
export async function explainAccess(call: ExplainCall): Promise<Answer> {
  const question = readQuestion(call)
  return readsStorage(call) ? fromStorage(call, question) : fromController(call, question)
}

/** Reports whether a question is for a storage itself, and not for a running controller. Throws {@link UsageError}. */
export function readsStorage({ options }: Pick<CommandCall<'url' | 'profile' | 'storage'>, 'options'>): boolean {
  // A controller that is named on the command line counts more than a variable, and a variable more than a folder.
  const remote = options.typed('url') ?? options.typed('profile')
  if (remote !== undefined && options.typed('storage') !== undefined) {
    throw new UsageError('--storage excludes --url and --profile')
  }
  if (remote !== undefined) return false
  if (options.typed('storage') !== undefined) return true
  if (options.value('url') !== undefined || options.value('profile') !== undefined) return false
  return options.value('storage') !== undefined || existsSync(DEFAULT_STORAGE_FILE)
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

/** A name that nobody has is a slip of the pen, not a denial. */
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
    type: readType(type ?? options.typed('type') ?? 'dial'),
  }
}

function readType(value: string): Question['type'] {
  if (/^dial$/i.test(value)) return 'Dial'
  if (/^bind$/i.test(value)) return 'Bind'
  throw new UsageError(`--type takes dial or bind, not '${value}'`)
}
