/** A command with unusable input: it ends with code 2. The message names the necessary change, in one line unless it has `places`. */
export class UsageError extends Error {
  /** Mistakes in files, a line each that begins with the place: `network.yaml:12:5: …`, so that editors and CI jump there. */
  readonly places: readonly string[]

  constructor(
    message: string,
    { places = [], ...options }: ErrorOptions & { readonly places?: readonly string[] } = {},
  ) {
    super(message, options)
    this.name = 'UsageError'
    this.places = places
  }
}

/** A value given to the command, and the option or environment variable that gave it. */
export interface Setting {
  /** For messages: `--listen` or `PORTCULLIS_LISTEN`. */
  readonly name: string
  readonly value: string
}

/** The environment of the process, or a test's substitute. */
export type Environment = Readonly<Record<string, string | undefined>>
