import { randomBytes } from 'node:crypto'
import { ADMIN_FILE, readFileIfAny, writePrivateFile } from './files.ts'

/** The default admin's credentials, generated on the first run and kept for later ones. */
export interface Admin {
  readonly username: string
  readonly password: string
}

/** The admin of earlier runs, or a new one with a password of 144 random bits. */
export async function openAdmin(): Promise<{ readonly admin: Admin; readonly created: boolean }> {
  const kept = await readFileIfAny(ADMIN_FILE)
  if (kept !== undefined) return { admin: JSON.parse(kept), created: false }
  const admin = { username: 'admin', password: randomBytes(18).toString('base64url') }
  await writePrivateFile(ADMIN_FILE, `${JSON.stringify(admin)}\n`)
  return { admin, created: true }
}
