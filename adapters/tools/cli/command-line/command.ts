import type { Terminal } from '../output.ts'
import type { GivenArguments, OptionDeclarations } from './options.ts'
import type { Environment } from './usage.ts'

/** The arguments and the surroundings that a command is run with. */
export interface CommandCall<Name extends string = string> extends GivenArguments<Name> {
  readonly environment: Environment
  readonly terminal: Terminal
}

/** The result of a command: printed as text, or as JSON where that is asked for. */
export interface Answer {
  /** For people; no line end at its end. */
  readonly text: string
  /** For programs, with `--json`. */
  readonly value?: unknown
  /** The exit code; 0 unless given. */
  readonly code?: number
}

/** A command as the program lists it. Help lists all commands without loading them. */
export interface ListedCommand {
  /** One word, or two: `explain`, `admin reset-password`. */
  readonly name: string
  /** The purpose of the command, in one line that fits beside its name. */
  readonly summary: string
  /** Loads the file that declares and runs it. */
  load(): Promise<Command>
}

/** Commands that belong together, under a heading. */
export interface CommandGroup {
  readonly title: string
  readonly commands: readonly ListedCommand[]
  /** Whether there are too many commands to list: help shows their first words, each with its second words. */
  readonly isNumerous?: true
}

/** A command, declared in one value: its help, completion and parsing follow from it. */
export interface Command<Declared extends OptionDeclarations = OptionDeclarations> {
  /** The operands between its name and its options, such as `FILE...`; without them the command takes nothing but options. */
  readonly operands?: string
  /** Words that may stand as operands, for completion. */
  readonly words?: readonly string[]
  readonly options: Declared
  /** Whether its answer has a form for programs, which `--json` asks for. */
  readonly hasJson?: boolean
  /** Paragraphs of help, below the summary. */
  readonly details?: string
  readonly examples?: readonly string[]
  /** Meanings of its exit codes, where they are others than {@link USUAL_EXIT_CODES}. */
  readonly exitCodes?: Readonly<Record<number, string>>
  /** Does it. A command that writes to standard output by itself answers its exit code. Throws {@link UsageError}. */
  run(call: CommandCall<keyof Declared & string>): Promise<Answer | number>
}

/** Exit codes that every command may end with. */
export const USUAL_EXIT_CODES: Readonly<Record<number, string>> = {
  0: 'done, and the answer is yes where there was a question',
  1: 'a failure: the controller cannot be reached, it refused, the storage is away',
  2: 'options, files or addresses that cannot be used',
}

/** The exit code of a question whose answer is no: access that is denied, a network in which something is wrong. */
export const EXIT_NO = 3

/** The exit code for unusable input: options, files, addresses, unknown names. */
export const EXIT_UNUSABLE = 2

/** Declares a command; `run` sees its options by their names. */
export function defineCommand<const Declared extends OptionDeclarations>(command: Command<Declared>): Command {
  // The arguments of `run` were read by these very declarations.
  return command as unknown as Command
}
