import { open } from 'node:fs/promises'

/** Read and write for the owner alone: databases hold one-time tokens. */
const OWNER_ONLY = 0o600

/** Makes an empty file that only its owner may read, where there is none; a file that is there keeps its mode. */
export async function createPrivateFile(file: string): Promise<void> {
  const created = await open(file, 'a', OWNER_ONLY)
  await created.close()
}
