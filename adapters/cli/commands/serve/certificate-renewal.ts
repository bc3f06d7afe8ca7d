import { readFile } from 'node:fs/promises'
import type { Controller, PkiMaterial } from '../../../../src/index.ts'
import { type PkiFiles, type RunningServer, readServerFiles } from '../../../node/index.ts'
import { tell } from '../../output/tell.ts'

/** How often the files are looked at, in ms. Certificates live for weeks; two small files cost nothing to read. */
const LOOK_EVERY_MS = 1000

type ServerPart = Pick<PkiMaterial, 'serverCertPem' | 'serverKeyPem'>

/** What a renewed server certificate is put into. */
export interface Renewed {
  readonly server: RunningServer
  readonly controller: Controller
  /** What the operator should know of a certificate, one line each. */
  warningsOf(material: ServerPart): readonly string[]
}

/**
 * Puts the server certificate in use whenever its files change, and says so; files that cannot be used are told once, and
 * what is in use stays. Two looks in a row must see the same: whoever renews writes one file after the other. Answers how
 * to stop it.
 */
export function renewServerCertificate(files: PkiFiles, inUse: ServerPart, renewed: Renewed): () => void {
  let last = textOf(inUse.serverCertPem, inUse.serverKeyPem)
  let settled = last
  const look = async () => {
    const seen = await read(files)
    const isRenewed = seen === last && seen !== settled
    last = seen
    if (!isRenewed) return
    settled = seen
    await putInUse(files, renewed)
  }
  const looking = setInterval(() => void look(), LOOK_EVERY_MS).unref()
  return () => clearInterval(looking)
}

async function putInUse(files: PkiFiles, { server, controller, warningsOf }: Renewed): Promise<void> {
  try {
    const material = await readServerFiles(files)
    await controller.replaceServerCertificate(material)
    server.replaceCertificate({ cert: material.serverCertPem, key: material.serverKeyPem })
    tell(`put the renewed server certificate of ${files.serverCertPem} in use`)
    for (const warning of warningsOf(material)) tell(warning)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    tell(`the renewed server certificate cannot be used, the one before stays in use: ${reason}`)
  }
}

/** Both files as one text; a file that cannot be read counts as empty, which differs from what was in use. */
async function read({ serverCertPem, serverKeyPem }: PkiFiles): Promise<string> {
  const [cert, key] = await Promise.all(
    [serverCertPem, serverKeyPem].map((file) => readFile(file, 'utf8').catch(() => '')),
  )
  return textOf(cert ?? '', key ?? '')
}

function textOf(cert: string, key: string): string {
  return `${cert}\n${key}`
}
