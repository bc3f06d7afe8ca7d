/** Bytes that are no message of the expected type. */
export class ProtobufError extends Error {
  constructor(problem: string) {
    super(`malformed message: ${problem}`)
    this.name = 'ProtobufError'
  }
}
