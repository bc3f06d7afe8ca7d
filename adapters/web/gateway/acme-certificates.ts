import { checkOptions } from '../../../src/base/arguments.ts'
import { ACME_OPTIONS, type AcmeCertificates, type AcmeOptions } from './acme/acme-options.ts'
import { DEFAULT_HOME, GatewayHosts } from './gateway-hosts.ts'

/**
 * Gets the certificates of a gateway by ACME: one for the home, and one for each service. The package `acme-client` has to be installed.
 * The server looks at the challenge on the port 443 of each host (TLS-ALPN-01). A name that is no host of these gets neither a certificate
 * nor an order. Certificates are renewed at two thirds of their life, for new connections, without a restart; failures are tried again
 * after pauses that grow from 5 minutes to 12 hours. Resolves when the kept certificates are in use; absent ones are ordered afterwards.
 *
 * @example
 * const certificates = await acmeCertificates({
 *   hosts: '*.apps.example',
 *   services: () => ['payroll', 'wiki'],
 *   directory: 'https://acme-v02.api.letsencrypt.org/directory',
 *   termsOfServiceAgreed: true,
 *   folder: '.portcullis/acme',
 * })
 * const https = createServer(certificates.tls)
 *
 * @throws {TypeError} for an invalid option.
 * @throws {Error} if `acme-client` is not installed, or the folder cannot be used.
 */
export async function acmeCertificates(options: AcmeOptions): Promise<AcmeCertificates> {
  checkOptions('acmeCertificates', options, ACME_OPTIONS)
  const hosts = new GatewayHosts(options.hosts, options.home ?? DEFAULT_HOME)
  const { ServedCertificates } = await import('./acme/served-certificates.ts')
  return ServedCertificates.open(options, hosts)
}
