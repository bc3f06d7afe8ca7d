import { hostOf } from '../base/addresses.ts'
import type { EngineContext } from '../context/context.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { ControllerOptions } from './controller-options.ts'

/**
 * Logs warnings about conditions that would silently lock clients out: a server certificate that does not name the host of the address;
 * certificates that end with this process over a store that lasts; certificates that differ from those by which devices enrolled.
 */
export async function warnAtStart(context: EngineContext, options: ControllerOptions): Promise<void> {
  const { logger, pki } = context
  const host = hostOf(options.address)
  const { hosts } = await pki.serverCertificate()
  if (!hosts.some((name) => covers(name, host))) {
    logger.warn('the server certificate is not for the host of the address: clients will refuse it', {
      host,
      names: hosts.join(', '),
    })
  }
  if (await isDeviceLockedOut(context)) {
    logger.warn(
      'devices enrolled by an authority that is not in `pki`: they cannot log in, nor verify this controller',
      { hint: 'start with the certificates that the network began with' },
    )
  } else if (options.pki === undefined && !options.storage.isVolatile) {
    logger.warn(
      'the certificates end with this process, and the storage does not: devices are locked out from the next start on',
      { hint: 'pass pki, such as openPkiDirectory(folder) of portcullis/node' },
    )
  }
}

/** A wildcard stands for one label. */
function covers(name: string, host: string): boolean {
  const [known, wanted] = [name.toLowerCase(), host.toLowerCase()]
  if (known === wanted || sameAddress(known, wanted)) return true
  return known.startsWith('*.') && wanted.includes('.') && known.slice(1) === wanted.slice(wanted.indexOf('.'))
}

/** An IPv6 address has several spellings; a URL has one of them. */
function sameAddress(one: string, other: string): boolean {
  if (![one, other].every((text) => text.includes(':') && URL.canParse(`https://[${text}]`))) return false
  return new URL(`https://[${one}]`).host === new URL(`https://[${other}]`).host
}

/** One device is enough: the network has one authority. */
async function isDeviceLockedOut({ storage, pki, clock }: EngineContext): Promise<boolean> {
  const where = equals('isIssuedByNetwork', true)
  const { items } = await storage.read((tx) => tx.collection(authenticators).find({ where, limit: 1 }))
  const [leaf] = await certificatesOf(pki, items[0]?.certPem)
  if (leaf === undefined) return false
  const at = Math.max(leaf.notBefore, Math.min(clock.now(), leaf.notAfter))
  return !(await pki.verifyClientChain([leaf.der], at)).trusted
}

/** Reads certificates from a store. Text that was stored by hand, or is damaged, counts as no certificate. */
async function certificatesOf(pki: EngineContext['pki'], pem: string | null | undefined) {
  const read = pem == null ? [] : await pki.readCertificates(pem)
  return Array.isArray(read) ? read : []
}
