import { toBase64 } from '../../domain/encoding/base64.ts'
import { defineOperation } from '../operations/define-operation.ts'

const LINE = 64

/** The trust bundle with which a device bootstraps its enrollment. */
export const caCertificates = defineOperation(
  {
    route: 'GET /.well-known/est/cacerts',
    summary: 'Serves the CA certificates of the network as base64 PKCS#7',
    description: 'A device that is about to enroll begins with it, having verified its token.',
    access: 'public',
    produces: 'application/pkcs7-mime',
  },
  async ({ engine }) => ({
    raw: base64Lines(await engine.network.caPkcs7()),
    headers: { 'content-transfer-encoding': 'base64' },
  }),
)

function base64Lines(bytes: Uint8Array): string {
  return (toBase64(bytes).match(new RegExp(`.{1,${LINE}}`, 'g')) ?? []).join('\n')
}
