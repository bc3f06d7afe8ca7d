import 'reflect-metadata'
import * as x509 from '@peculiar/x509'
import { memoryStorage } from 'portcullis/memory'
import { describe, expect, it } from 'vitest'
import { expectDone, expectError, expectFieldError } from '../contract/http/errors.ts'
import { adminOf, CLIENT, foreignClient } from '../contract/http/foreign-client.ts'
import {
  authorityExtensions,
  createKeys,
  type Issued,
  issue,
  issueAuthority,
  keyPemOf,
  now,
  pemOf,
} from '../support/certificates/certificates.ts'
import { mount } from '../support/mount.ts'
import { clientOf, registered, TRUSTED } from '../support/third-party.ts'

/** A network whose signing authority stands below a root, which a superior outside of its bundle has certified too. */
async function network() {
  const superior = await issueAuthority({ subject: 'CN=superior' })
  const root = await issueAuthority({ subject: 'CN=network root' })
  const certified = await issueAuthority({ subject: 'CN=network root', issuer: superior, keys: root.keys })
  const signing = await issueAuthority({ subject: 'CN=network signing', issuer: root })
  const server = await issue({
    subject: 'CN=server',
    issuer: signing,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'controller.test' }])],
  })
  const pki = {
    caPem: pemOf(root, certified),
    signingCertPem: pemOf(signing),
    signingKeyPem: await keyPemOf(signing.keys),
    serverCertPem: pemOf(server),
    serverKeyPem: await keyPemOf(server.keys),
  }
  return { superior, root, certified, signing, pki }
}

type Network = Awaited<ReturnType<typeof network>>

const VARIANTS: readonly [string, (network: Network) => Promise<Issued> | Issued][] = [
  ['its root', ({ root }) => root],
  ['its signing authority', ({ signing }) => signing],
  ['its root under another name', ({ root }) => issueAuthority({ subject: 'CN=other', keys: root.keys })],
  ['its signing authority, signed by itself', ({ signing }) => selfSigned(signing)],
  ['its signing authority, signed by a stranger', ({ signing }) => strangers(signing)],
  ['an authority below its root', ({ root }) => issueAuthority({ subject: 'CN=below', issuer: root })],
  ['an authority that certified its root', ({ superior }) => superior],
]

function selfSigned({ keys }: Issued): Promise<Issued> {
  return issueAuthority({ subject: 'CN=network signing', keys })
}

async function strangers({ keys }: Issued): Promise<Issued> {
  const issuer = await issueAuthority({ subject: 'CN=stranger' })
  return issue({ subject: 'CN=network signing', issuer, keys, extensions: authorityExtensions() })
}

describe("the network's own authority is no third party:", () => {
  it.each(VARIANTS)('%s cannot be registered', async (_what, variant) => {
    const own = await network()
    const mounted = await mount({ now, pki: own.pki })
    const admin = await adminOf(mounted)
    const certPem = pemOf(await variant(own))
    expectFieldError(await admin.post('/cas', { ...TRUSTED, name: 'third', certPem }), 'certPem', "network's own")
  })

  it.each(VARIANTS)('%s lets nobody in, where it was registered before', async (_what, variant) => {
    const own = await network()
    const authority = await variant(own)
    // Registered by another network, which the store then moves to this one.
    const storage = memoryStorage()
    const before = await mount({ now, storage })
    const id = await registered(await adminOf(before), authority)
    const mounted = await mount({ now, pki: own.pki, storage })
    const admin = await adminOf(mounted)
    const client = foreignClient(mounted, CLIENT, undefined, await clientOf(authority, 'somebody'))
    expectError(await client.post('/enroll?method=ca', {}), 'CERT_FAILED_VALIDATION')
    expectDone(await admin.delete(`/cas/${id}`))
  })

  it('a stranger with the same name can be', async () => {
    const own = await network()
    const mounted = await mount({ now, pki: own.pki })
    const admin = await adminOf(mounted)
    const namesake = await issueAuthority({ subject: 'CN=network root', keys: await createKeys() })
    await registered(admin, namesake)
    const client = foreignClient(mounted, CLIENT, undefined, await clientOf(namesake, 'somebody'))
    expect((await client.post('/enroll?method=ca', {})).status).toBe(200)
  })
})
