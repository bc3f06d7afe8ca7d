import { X509Certificate } from 'node:crypto'
import type { PkiMaterial } from 'portcullis'
import { openPkiDirectory } from 'portcullis/node'
import { PKI_DIRECTORY } from '../files.ts'
import type { Options } from '../options.ts'
import type { Tick } from '../story.ts'

/**
 * Creates the certificates of the network on the first run and reuses them on later ones. Rejects when those of an
 * earlier run do not name the host that devices reach now.
 */
export async function openCertificates({ reached: { host } }: Options, tick: Tick): Promise<PkiMaterial> {
  const hosts = [...new Set([host, 'localhost', '127.0.0.1', '::1'])]
  const { created, ...material } = await openPkiDirectory(PKI_DIRECTORY, {
    hosts,
    trustDomain: 'corp.example',
    now: Date.now(),
  })
  const server = new X509Certificate(material.serverCertPem)
  if (server.checkHost(host) === undefined && server.checkIP(host) === undefined) {
    throw new Error(`the certificates in ${PKI_DIRECTORY} do not name ${host}: remove that folder to make new ones`)
  }
  tick(`root CA, signing CA and server certificate ${created ? 'created in' : 'reused from'} ${PKI_DIRECTORY}`)
  return material
}
