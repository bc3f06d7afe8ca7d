import type { Style } from '../output.ts'
import { type Command, type CommandGroup, EXIT_NO, type ListedCommand, USUAL_EXIT_CODES } from './command.ts'
import { variableName } from './options.ts'

const WIDTH = 120

const ANSWER_NO = 'the answer is no: access that is denied, an assertion that fails, something that is wrong'

/** Help for the whole program: every command with its summary. */
export function programHelp(groups: readonly CommandGroup[], style: Style): string {
  const sections = groups.map((group) => ({ title: group.title, rows: rowsOf(group) }))
  const column = Math.max(...sections.flatMap(({ rows }) => rows.map(({ name }) => name.length))) + 4
  return [
    'usage: portcullis COMMAND [options]',
    'A zero-trust network controller: serves it, looks after its storage, and asks what it decides.',
    ...sections.map(({ title, rows }) =>
      [style('bold', title), ...rows.map(({ name, summary }) => row(name, summary, column, style))].join('\n'),
    ),
    'portcullis COMMAND --help tells of one command; --version tells which version this is.',
    exitCodes({ ...USUAL_EXIT_CODES, [EXIT_NO]: ANSWER_NO }, style),
  ].join('\n\n')
}

function rowsOf({
  commands,
  isNumerous,
}: CommandGroup): readonly { readonly name: string; readonly summary: string }[] {
  if (!isNumerous) return commands
  const words = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))]
  return words.map((name) => {
    const own = commands.filter((command) => command.name.startsWith(`${name} `))
    return { name, summary: own.map((command) => command.name.slice(name.length + 1)).join(', ') }
  })
}

/** Help for the commands that begin with a word, such as `admin`. */
export function prefixHelp(prefix: string, commands: readonly ListedCommand[], style: Style): string {
  const column = Math.max(...commands.map(({ name }) => name.length)) + 4
  const rows = commands.map((command) => row(command.name, command.summary, column, style))
  return [`usage: portcullis ${prefix} COMMAND [options]`, rows.join('\n')].join('\n\n')
}

/** Help for one command. */
export function commandHelp({ name, summary }: ListedCommand, command: Command, style: Style): string {
  const { operands, details, examples = [], exitCodes: own } = command
  const usage = ['usage: portcullis', name, operands, '[options]'].filter((part) => part !== undefined).join(' ')
  return [
    usage,
    summary,
    ...(details === undefined ? [] : [details]),
    optionsHelp(command, style),
    ...(examples.length === 0 ? [] : [[style('bold', 'Examples'), ...examples.map((line) => `  ${line}`)].join('\n')]),
    exitCodes({ ...USUAL_EXIT_CODES, ...own }, style),
  ].join('\n\n')
}

function optionsHelp({ options, hasJson }: Command, style: Style): string {
  const listed = Object.entries(options).map(([name, { value, summary, variable }]) => ({
    left: value === undefined ? `--${name}` : `--${name} ${value}`,
    right: variable ? `${summary} [${variableName(name)}]` : summary,
  }))
  const rows = [
    ...listed,
    ...(hasJson ? [{ left: '--json', right: 'print the answer as JSON' }] : []),
    { left: '-h, --help', right: 'print this' },
  ]
  const column = Math.min(Math.max(...rows.map(({ left }) => left.length)), 30) + 4
  return [style('bold', 'Options'), ...rows.map(({ left, right }) => row(left, right, column, style))].join('\n')
}

function exitCodes(codes: Readonly<Record<number, string>>, style: Style): string {
  return [style('bold', 'Exit codes'), ...Object.entries(codes).map(([code, what]) => row(code, what, 6, style))].join(
    '\n',
  )
}

/** A term and what is said of it, wrapped below itself. */
function row(term: string, text: string, column: number, style: Style): string {
  const lines = wrapped(text, WIDTH - column)
  const head = `  ${style('cyan', term)}`
  const first =
    term.length + 2 < column ? [head + ' '.repeat(column - term.length - 2) + (lines.shift() ?? '')] : [head]
  return [...first, ...lines.map((line) => ' '.repeat(column) + line)].join('\n')
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
