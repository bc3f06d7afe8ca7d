import { didYouMean } from '../../../src/base/arguments.ts'
import { VERSION } from '../../../src/version.ts'
import type { Terminal } from '../output.ts'
import type { Answer, CommandGroup, ListedCommand } from './command.ts'
import { commandHelp, prefixHelp, programHelp } from './help.ts'
import { type OptionDeclarations, readArguments } from './options.ts'
import { type Environment, UsageError } from './usage.ts'

/** The surroundings of a run of the program. */
export interface Surroundings {
  readonly environment: Environment
  readonly terminal: Terminal
}

const HELP_WORDS: readonly (string | undefined)[] = ['--help', '-h', 'help']
const VERSION_WORDS: readonly (string | undefined)[] = ['--version', '-v', 'version']

/** Does what the command line asks; the exit code. Throws {@link UsageError} for what no command is asked by. */
export async function runCommandLine(
  groups: readonly CommandGroup[],
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const { terminal } = surroundings
  const [first, second] = args
  if (first === undefined) {
    throw new UsageError('say what to do, such as portcullis serve; portcullis --help lists the commands')
  }
  if (VERSION_WORDS.includes(first)) return print(`portcullis ${VERSION}`, terminal)
  if (first === 'help' && second !== undefined)
    return runCommandLine(groups, [...args.slice(1), '--help'], surroundings)
  if (HELP_WORDS.includes(first)) return print(programHelp(groups, terminal.style), terminal)
  const commands = groups.flatMap((group) => group.commands)
  const command =
    commands.find(({ name }) => name === `${first} ${second}`) ?? commands.find(({ name }) => name === first)
  if (command !== undefined) return runCommand(command, args.slice(command.name.split(' ').length), surroundings)
  const below = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (below.length === 0) {
    const names = commands.flatMap(({ name }) => name.split(' ').slice(0, 1))
    const meant = didYouMean(first, names)
    throw new UsageError(`there is no command '${first}'${meant}; portcullis --help lists the commands`)
  }
  if (HELP_WORDS.includes(second)) return print(prefixHelp(first, below, terminal.style), terminal)
  const names = below.map(({ name }) => `portcullis ${name}`).join(', ')
  const verbs = below.map(({ name }) => name.slice(first.length + 1))
  const wrong = second === undefined ? '' : `there is no command '${first} ${second}'${didYouMean(second, verbs)}; `
  throw new UsageError(`${wrong}say what to do: ${names}; portcullis ${first} --help tells more`)
}

async function runCommand(listed: ListedCommand, args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { environment, terminal } = surroundings
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
