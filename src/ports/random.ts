/** The controller's only source of randomness; every value is unpredictable to a caller. */
export interface Random {
  /** A short opaque id of ten URL-safe characters that starts with a letter or digit: the id of an entity. */
  id(): string
  /** A version 4 UUID: API session tokens and enrollment tokens (122 bits). */
  uuid(): string
  /** How many characters of `A-Z2-7`, five bits each: codes that people type. */
  base32(length: number): string
}
