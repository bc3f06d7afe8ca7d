import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of files in which the openssl command line works, as somebody at a terminal would. */
export interface OpensslFolder {
  /**
   * Runs `openssl <command>` and answers its output; throws with what it said when it fails. This process stands still
   * meanwhile, so a command cannot talk to a server in it.
   */
  run(command: string): string
  read(file: string): string
  write(file: string, content: string | Uint8Array): void
  remove(): void
}

/** Makes an empty folder. */
export function opensslFolder(): OpensslFolder {
  const cwd = mkdtempSync(join(tmpdir(), 'portcullis-journey-'))
  return {
    run: (command) =>
      execFileSync('openssl', command.split(' '), { cwd, encoding: 'utf8', stdio: 'pipe', timeout: 20_000 }),
    read: (file) => readFileSync(join(cwd, file), 'utf8'),
    write: (file, content) => writeFileSync(join(cwd, file), content),
    remove: () => rmSync(cwd, { recursive: true }),
  }
}
