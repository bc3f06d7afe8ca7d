import { z } from 'zod'
import { Pem } from '../../resources/declaration/fields.ts'
import { described } from '../../resources/declaration/words.ts'
import { Password } from '../../resources/login/passwords.ts'
import { Controller } from '../shared/controllers.ts'

const CERTIFICATES = {
  ca: 'The CA certificates to trust, PEM.',
  cert: 'The client certificate that was issued, with its intermediates, PEM.',
  serverCert: 'The server certificate that was issued to a router, with its intermediates, PEM.',
} as const
const CONTROLLERS = 'The controllers of the network, where the identity may log in.'
/** What an identity is given. */
export const Enrolled = described(
  z.object({
    ca: z.string().optional(),
    cert: z.string(),
    controllers: z.array(Controller).optional(),
    serverCert: z.string().optional(),
  }),
  {
    ...CERTIFICATES,
    controllers: CONTROLLERS,
  },
)
/** What an identity is given that has a certificate of a third party. */
export const EnrolledByCertificate = described(z.object({ controllers: z.array(Controller) }), {
  controllers: CONTROLLERS,
})
/** What an identity is given that has chosen a password. */
export const EnrolledByPassword = described(EnrolledByCertificate.extend({ username: z.string() }), {
  controllers: CONTROLLERS,
  username: 'The username to log in with.',
})
/** What is there of it depends on the method. */
export const EnrolledSomehow = described(Enrolled.partial().extend({ username: z.string().optional() }), {
  ...CERTIFICATES,
  controllers: 'The controllers of the network, for identities.',
  username: 'The username to log in with, for `updb`.',
})
/** What a router is given. */
export const EnrolledRouter = described(
  z.object({ ca: z.string(), cert: z.string(), serverCert: z.string() }),
  CERTIFICATES,
)

/** What the members of enrollment bodies are for. */
export const REQUESTS = {
  token: 'The one-time token of the enrollment.',
  password: 'The password to log in with from then on, 5 to 100 characters that fulfil the auth policy.',
  username: 'Not looked at: the username is that of the enrollment.',
  clientCsr: 'The signing request for the client certificate, PEM.',
  certCsr: 'The signing request for the client certificate of a router, PEM.',
  serverCsr: 'The signing request for the server certificate, PEM.',
  serverCertCsr: 'The signing request for the server certificate of a router, PEM.',
} as const

/** All that any method needs. */
export const EnrollBody = described(
  z.object({
    name: z.string().optional(),
    username: z.string().optional(),
    password: Password.optional(),
    clientCsr: Pem.optional(),
    certCsr: Pem.optional(),
    serverCertCsr: Pem.optional(),
  }),
  {
    name: 'A name for the new identity, for `ca`; the CA says how it is used.',
    ...REQUESTS,
  },
)
