import type { EngineContext } from '../context/context.ts'

/** The token that tells an enroller which network it talks to. It never expires and is signed once in a process. */
export class NetworkToken {
  readonly #context: EngineContext
  #signed: Promise<string> | undefined

  constructor(context: EngineContext) {
    this.#context = context
  }

  jwt(): Promise<string> {
    this.#signed ??= this.#sign()
    return this.#signed
  }

  #sign(): Promise<string> {
    const { tokens, random, settings } = this.#context
    const issuer = `https://${settings.address}/`
    return tokens.sign({ iss: issuer, sub: issuer, aud: ['openziti-enroller'], jti: random.uuid(), em: 'network' })
  }
}
