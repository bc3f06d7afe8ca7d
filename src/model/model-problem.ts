/** Members and list positions, from the outermost. */
export type Path = readonly (string | number)[]

/** A position in a file; lines and columns count from 1. */
export interface Place {
  readonly file: string
  readonly line: number | undefined
  readonly column: number | undefined
}

/** A file, or an object that a program made: its value, and the place of each part. */
export interface Source {
  /** The name of the file, as messages show it. */
  readonly name: string
  readonly value: unknown
  /** The place of the part at a path, or of its nearest existing parent. */
  place(path: Path): Place
}

/** A mistake in a model, and its place. */
export interface Problem {
  readonly place: Place
  /** The place of the problem, as `servicePolicies 'staff', serviceRoles[0]`; empty for a file as a whole. */
  readonly subject: string
  readonly message: string
}

/** A model cannot be used. The message has one line for each problem: file, line, column, subject and mistake. */
export class ModelError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemText).join('\n'))
    this.name = 'ModelError'
    this.problems = problems
  }

  /** Makes the error of a file that cannot be used as a whole. */
  static ofFile(file: string, message: string): ModelError {
    return new ModelError([{ place: { file, line: undefined, column: undefined }, subject: '', message }])
  }
}

/**
 * A problem as one line, in the format that editors and compilers use: `network.yaml:12:5: …`.
 *
 * @example
 * await readModel('network.yaml').catch((error) => {
 *   if (error instanceof ModelError) console.log(error.problems.map(problemText).join('\n'))
 * })
 */
export function problemText({ place, subject, message }: Problem): string {
  return [placeText(place), subject, message].filter((part) => part !== '').join(': ')
}

/** `network.yaml:12:5`. */
export function placeText({ file, line, column }: Place): string {
  return [file, line, column].filter((part) => part !== undefined).join(':')
}

/** A path as programs write it: `dial.allow[0]`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}

/** Parses a path as {@link pathText} and the controller write it. */
export function pathOf(text: string): Path {
  const parts = text.split(/[.[\]]/).filter((part) => part !== '')
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}
