import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs the openssl command line with files in a directory of its own. Throws when the program is not installed. */
export const openssl = (args: readonly string[], files: Readonly<Record<string, string | Uint8Array>> = {}) => {
  const cwd = mkdtempSync(join(tmpdir(), 'portcullis-openssl-'))
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content)
    const { error, status, stdout, stderr } = spawnSync('openssl', args, { cwd, encoding: 'utf8' })
    if (error)
      throw new Error(`these tests compare with the openssl command line, which did not start: ${error.message}`)
    return { succeeded: status === 0, stdout, stderr }
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

/** Output of an openssl command that must succeed. */
export const opensslOutput = (args: readonly string[], files: Readonly<Record<string, string | Uint8Array>> = {}) => {
  const { succeeded, stdout, stderr } = openssl(args, files)
  if (!succeeded) throw new Error(`openssl ${args.join(' ')} failed: ${stderr}`)
  return stdout
}
