/** Keeps secrets unreadable at rest, where they must be shown again and cannot be hashed. */
export interface Sealer {
  /** Encrypts text for one purpose; the same text is sealed differently every time. */
  seal(text: string, purpose: string): Promise<string>
  /** Decrypts what was sealed for the same purpose. Throws when it was not, or by another key. */
  open(sealed: string, purpose: string): Promise<string>
}
