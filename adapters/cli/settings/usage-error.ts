/** What the command was asked cannot be done as asked: it ends with code 2. The message is one line that says what to change. */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UsageError'
  }
}
