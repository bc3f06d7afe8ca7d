/** Something that the command was told, and the option or environment variable that told it. */
export interface Setting {
  /** For messages: `--listen` or `PORTCULLIS_LISTEN`. */
  readonly name: string
  readonly value: string
}

/** The process's environment, or what a test puts in its place. */
export type Environment = Readonly<Record<string, string | undefined>>
