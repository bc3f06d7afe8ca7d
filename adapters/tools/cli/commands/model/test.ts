import { coverageText, junit, lowestShare, tap, testController, testModel, testText } from '../../../model/index.ts'
import { defineCommand, EXIT_NO } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { CONNECTION_DETAILS, CONNECTION_OPTIONS, withConnection } from '../../connection/connect.ts'
import { coloured, readModelFiles, withoutMistakes, written } from './model-files.ts'

/** `portcullis test`. */
export const TEST = defineCommand({
  operands: 'FILE...',
  options: {
    ...CONNECTION_OPTIONS,
    format: {
      value: 'text|tap|junit',
      choices: ['text', 'tap', 'junit'],
      summary: 'how the results are written; default text',
    },
    coverage: { summary: 'tell the policies, posture checks and pairs that no assertion asks about' },
    'min-coverage': {
      value: 'PERCENT',
      summary:
        'end with 3 where less of the policies, of the checks or of the pairs is asked about; implies --coverage',
    },
    output: { value: 'FILE', summary: 'where they are written; default: standard output' },
  },
  hasJson: true,
  details: `Tries what the files say of access on a controller in memory that has the network of the files, or with --url or
--profile on a running controller as it is. Files end in .yaml, .yml, .json, .ts, .mts, .js or .mjs and count as one model.
${CONNECTION_DETAILS}`,
  examples: [
    'portcullis test network.yaml',
    'portcullis test network.yaml --min-coverage 80',
    'portcullis test network.yaml --format junit --output policies.xml',
  ],
  exitCodes: { 0: 'every assertion holds', [EXIT_NO]: 'an assertion fails, or too little is asked about' },
  run: async (call) => {
    const { options, operands, terminal } = call
    const least = percentIn(options.typed('min-coverage'))
    const format = options.typed('format') ?? 'text'
    if (!['text', 'tap', 'junit'].includes(format)) {
      throw new UsageError(`--format takes text, tap or junit, not '${format}'`)
    }
    const model = await readModelFiles(operands, 'test')
    if (model.assertions.length === 0) throw new UsageError(`there are no assertions in ${operands.join(', ')}`)
    const isRunning = options.value('url') !== undefined || options.value('profile') !== undefined
    const result = await withoutMistakes(() =>
      isRunning ? withConnection(call, ({ access: admin }) => testController(admin, model)) : testModel(model),
    )
    const isFile = options.typed('output') !== undefined
    const shown = isFile ? testText(result) : coloured(testText(result), terminal.style)
    const text = format === 'tap' ? tap(result) : format === 'junit' ? junit(result, operands.join(' ')) : `${shown}\n`
    const answer = await written(text, options.typed('output'), terminal)
    const { coverage } = result
    const isTooLittle = coverage !== undefined && least !== undefined && lowestShare(coverage) < least
    if (coverage !== undefined && (least !== undefined || options.flag('coverage'))) {
      for (const line of coverageText(coverage).split('\n')) terminal.tell(line)
      if (isTooLittle) terminal.tell(`${lowestShare(coverage)} % are asked about, ${least} % have to be`)
    }
    return { text: answer, value: result, code: result.failed === 0 && !isTooLittle ? 0 : EXIT_NO }
  },
})

function percentIn(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const percent = Number(given)
  if (given.trim() !== '' && percent >= 0 && percent <= 100) return percent
  throw new UsageError(`--min-coverage takes a percentage from 0 to 100, not '${given}'`)
}
