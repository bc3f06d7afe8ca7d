/** A command that cannot be done as it was asked: it ends with code 2. The message is one line that says what to change. */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UsageError'
  }
}

/** A value given to the command, and the option or environment variable that gave it. */
export interface Setting {
  /** For messages: `--listen` or `PORTCULLIS_LISTEN`. */
  readonly name: string
  readonly value: string
}

/** The process's environment, or what a test puts in its place. */
export type Environment = Readonly<Record<string, string | undefined>>
