/** Members and positions in lists, from the outermost. */
export type Path = readonly (string | number)[]

/** Where something stands in a file; lines and columns count from 1. */
export interface Place {
  readonly file: string
  readonly line: number | undefined
  readonly column: number | undefined
}

/** A file, or an object that a program made: what it holds, and where each part stands. */
export interface Source {
  /** The name of the file, as messages tell it. */
  readonly name: string
  readonly value: unknown
  /** Where the part at the end of a path stands, or what of it there is. */
  place(path: Path): Place
}

/** One thing that is wrong with a model, and where. */
export interface Problem {
  readonly place: Place
  /** The place of the problem, as `servicePolicies 'staff', serviceRoles[0]`; empty for a file as a whole. */
  readonly subject: string
  readonly message: string
}

/** A model cannot be used. The message is one line for each problem: file, line, column, subject and what is wrong. */
export class ModelError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemText).join('\n'))
    this.name = 'ModelError'
    this.problems = problems
  }
}

/**
 * A problem as one line, in the form that editors and compilers know: `network.yaml:12:5: …`.
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

/** The path that {@link pathText} and the controller write. */
export function pathOf(text: string): Path {
  const parts = text.split(/[.[\]]/).filter((part) => part !== '')
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}
