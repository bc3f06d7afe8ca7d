import { didYouMean } from '../../../src/base/arguments.ts'
import { VERSION } from '../../../src/version.ts'
import {
  type Answer,
  type Command,
  type CommandGroup,
  EXIT_NO,
  type ListedCommand,
  USUAL_EXIT_CODES,
} from './command-line/command.ts'
import { type OptionDeclarations, readArguments, variableName } from './command-line/options.ts'
import { type Environment, UsageError } from './command-line/usage.ts'
import type { Style, Terminal } from './output.ts'

/** The environment and the terminal of a run of the program. */
export interface ProgramPorts {
  readonly environment: Environment
  readonly terminal: Terminal
}

const HELP_WORDS: readonly (string | undefined)[] = ['--help', '-h', 'help']
/** Commands that are named for a verb alone. Most kinds of entities have the other verbs. */
const MOST_MEANT = 3
const VERSION_WORDS: readonly (string | undefined)[] = ['--version', '-v', 'version']

/** Runs the command line; the exit code. Throws {@link UsageError} for an unknown command. */
export async function runCommandLine(
  groups: readonly CommandGroup[],
  args: readonly string[],
  ports: ProgramPorts,
): Promise<number> {
  const { terminal } = ports
  const [first, second] = args
  if (first === undefined) {
    throw new UsageError('say what to do, such as portcullis serve; portcullis --help lists the commands')
  }
  if (VERSION_WORDS.includes(first)) return print(`portcullis ${VERSION}`, terminal)
  if (first === 'help' && second !== undefined) return runCommandLine(groups, [...args.slice(1), '--help'], ports)
  if (HELP_WORDS.includes(first)) return print(programHelp(groups, terminal.style), terminal)
  const commands = groups.flatMap((group) => group.commands)
  const command =
    commands.find(({ name }) => name === `${first} ${second}`) ?? commands.find(({ name }) => name === first)
  if (command !== undefined) return runCommand(command, args.slice(command.name.split(' ').length), ports)
  const below = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (below.length === 0) {
    const names = commands.flatMap(({ name }) => name.split(' ').slice(0, 1))
    const longer = commands.filter(({ name }) => name.endsWith(` ${first}`)).map(({ name }) => `'${name}'`)
    const isFew = longer.length > 0 && longer.length <= MOST_MEANT
    const meant = isFew ? ` (did you mean ${longer.join(' or ')}?)` : meantBy(first, names)
    throw new UsageError(`there is no command '${first}'${meant}; portcullis --help lists the commands`)
  }
  if (HELP_WORDS.includes(second)) return print(prefixHelp(first, below, terminal.style), terminal)
  const names = below.map(({ name }) => `portcullis ${name}`).join(', ')
  const verbs = below.map(({ name }) => name.slice(first.length + 1))
  const wrong = second === undefined ? '' : `there is no command '${first} ${second}'${didYouMean(second, verbs)}; `
  throw new UsageError(`${wrong}say what to do: ${names}; portcullis ${first} --help tells more`)
}

/** ` (did you mean 'identities'?)`, or nothing. Kinds are plural, and the last word of a kind of several words is enough. */
function meantBy(word: string, names: readonly string[]): string {
  const plural = /s$/.test(word) ? word : `${word.replace(/y$/, 'ie')}s`
  if (names.includes(plural)) return didYouMean(plural, names)
  const ending = [...new Set(names)].filter((name) => name.endsWith(`-${plural}`))
  return ending.length === 0
    ? didYouMean(word, names)
    : ` (did you mean ${ending.map((name) => `'${name}'`).join(', ')}?)`
}

async function runCommand(listed: ListedCommand, args: readonly string[], ports: ProgramPorts): Promise<number> {
  const { environment, terminal } = ports
  const words = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)
  if (words.includes('--version')) return print(`portcullis ${VERSION}`, terminal)
  const command = await listed.load()
  if (words.includes('--help') || words.includes('-h'))
    return print(commandHelp(listed, command, terminal.style), terminal)
  const declared: OptionDeclarations = { ...command.options, ...(command.hasJson && { json: { summary: '' } }) }
  const given = readArguments(declared, args, environment, {
    command: listed.name,
    takesOperands: command.operands !== undefined,
  })
  const answer = await command.run({ ...given, environment, terminal })
  if (typeof answer === 'number') return answer
  return print(textOf(answer, command.hasJson === true && given.options.flag('json')), terminal, answer.code)
}

function textOf({ text, value }: Answer, asJson: boolean): string {
  return asJson ? JSON.stringify(value ?? { text }, null, 2) : text
}

function print(text: string, { print }: Terminal, code = 0): number {
  if (text !== '') print(text)
  return code
}

const WIDTH = 120

const ANSWER_NO = 'the answer is no: access that is denied, an assertion that fails, something that is wrong'

/** Help for the whole program: every command with its summary. */
function programHelp(groups: readonly CommandGroup[], style: Style): string {
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
function prefixHelp(prefix: string, commands: readonly ListedCommand[], style: Style): string {
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

/** A term and its description, wrapped below itself. */
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
