/** Inputs of Argon2id version 1.3 (RFC 9106). */
interface Argon2idInput {
  readonly password: Uint8Array<ArrayBuffer>
  readonly salt: Uint8Array<ArrayBuffer>
  readonly cost: Argon2Cost
  /** Length of the answer in octets. */
  readonly length: number
}

export interface Argon2Cost {
  /** Memory in KiB. */
  readonly memory: number
  readonly passes: number
  readonly lanes: number
}

/** Derives the hash of a password. */
export type Argon2id = (input: Argon2idInput) => Promise<Uint8Array>

/** Argon2id in WebAssembly: slower, on the calling thread, and everywhere. */
export async function wasmArgon2id({ password, salt, cost, length }: Argon2idInput): Promise<Uint8Array> {
  const { argon2id } = await import('hash-wasm')
  return argon2id({
    password,
    salt,
    memorySize: cost.memory,
    iterations: cost.passes,
    parallelism: cost.lanes,
    hashLength: length,
    outputType: 'binary',
  })
}

/** Argon2id of the runtime, off the calling thread: Node 24.7 and later. Undefined where the runtime has none. */
export async function findNativeArgon2id(): Promise<Argon2id | undefined> {
  const native = await import('node:crypto').catch(() => undefined)
  // Older runtimes have the module without the function, which its types do not say.
  if (native === undefined || !('argon2' in native)) return undefined
  return ({ password, salt, cost, length }) =>
    new Promise((resolve, reject) => {
      const { memory, passes, lanes: parallelism } = cost
      const input = { message: password, nonce: salt, memory, passes, parallelism, tagLength: length }
      native.argon2('argon2id', input, (problem, hash) => (problem ? reject(problem) : resolve(hash)))
    })
}
