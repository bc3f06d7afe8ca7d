/** The tables in the database are not those that this version of the code can work with; the message says what to do. */
export class SchemaMismatch extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SchemaMismatch'
  }
}
