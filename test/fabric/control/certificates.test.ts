import 'reflect-metadata'
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import { routerSide } from 'portcullis/fabric'
import { bodyOf, type EnrolledRouter, FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { fabricWorld } from './fabric-world.ts'

const { CONTENT_TYPE, Certificates, CodedError, ConfirmCertificate, ExtendCertificates } = routerSide
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

async function signingRequest(commonName: string): Promise<string> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const name = [{ CN: [commonName] }]
  return (await Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: ALGORITHM })).toString('pem')
}

function chainIn(pem: string): EnrolledRouter['chain'] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END/g)].map(
    ([, base64 = '']) => new Uint8Array(Buffer.from(base64, 'base64')),
  )
}

/** A connected router that was given its next certificate. */
async function extended() {
  const world = await fabricWorld()
  const enrolled = await world.enroll('r1')
  const router = new FakeRouter(enrolled, world.listener)
  const group = await router.connect()
  const csr = await signingRequest(enrolled.id)
  router.send(CONTENT_TYPE.extendCertificates, ExtendCertificates.encode({ clientCertCsr: csr, serverCertCsr: csr }))
  const frame = await router.next(({ contentType }) => contentType === CONTENT_TYPE.certificates)
  const { clientCertPem, serverCertPem } = Certificates.decode(bodyOf(frame))
  const renewed = new FakeRouter({ ...enrolled, chain: chainIn(clientCertPem) }, world.listener)
  const confirm = async (pem: string) =>
    CodedError.decode(
      bodyOf(await router.request(CONTENT_TYPE.confirmCertificate, ConfirmCertificate.encode({ clientCertPem: pem }))),
    ).code
  const { connectionId, secret } = group
  return { world, enrolled, router, renewed, confirm, clientCertPem, serverCertPem, group: { connectionId, secret } }
}

it('a router renews its certificate over its channel, which stays open', async () => {
  const { world, enrolled, router, renewed, confirm, clientCertPem, serverCertPem, group } = await extended()
  expect(chainIn(serverCertPem)).not.toHaveLength(0)
  expect(await renewed.connect()).toMatchObject({ accepted: false, reason: 'wrong-fingerprint' })
  const before = (await world.call('GET', `/edge-routers/${router.id}`)).fingerprint
  expect(await confirm(clientCertPem)).toBe('')
  expect((await world.call('GET', `/edge-routers/${router.id}`)).fingerprint).not.toBe(before)
  await world.controller.elapse(5000)
  expect(router.isClosed).toBe(false)
  // Every further socket of the same channel shows the new certificate; the former one is worth nothing any more.
  expect(await renewed.connect({ ...group, isFirst: false, type: 'ctrl.high' })).toMatchObject({ accepted: true })
  expect(await new FakeRouter(enrolled, world.listener).connect()).toMatchObject({ reason: 'wrong-fingerprint' })
})

it('a certificate that the router does not confirm changes nothing', async () => {
  const { world, enrolled, router, renewed, confirm } = await extended()
  expect(await confirm('')).toBe('MISSING_CLIENT_PEM')
  expect(await confirm('no certificate')).toBe('INVALID_CLIENT_PEM')
  const [first = new Uint8Array()] = enrolled.chain
  const pem = `-----BEGIN CERTIFICATE-----\n${Buffer.from(first).toString('base64')}\n-----END CERTIFICATE-----\n`
  expect(await confirm(pem)).toBe('VERIFY_ERROR')
  expect(router.isClosed).toBe(false)
  router.close()
  await vi.waitFor(() => expect(world.told('router.connection')).toHaveLength(2))
  expect(await renewed.connect()).toMatchObject({ accepted: false, reason: 'wrong-fingerprint' })
  expect(await router.connect()).toMatchObject({ accepted: true })
})
