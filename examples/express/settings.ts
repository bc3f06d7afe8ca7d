import { mkdir } from 'node:fs/promises'

/** Where the example keeps its files, where it listens, and who its first admin is. */
export async function readSettings(environment: NodeJS.ProcessEnv) {
  const { FOLDER: folder = '.express-example', PORT: port = '1280', ADMIN_PASSWORD: password } = environment
  if (password === undefined) throw new Error('ADMIN_PASSWORD is the password of the first admin: set it')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return { folder, port: Number(port), admin: { username: 'admin', password } }
}
