import { decodeJwt } from 'jose'
import type { Ending } from '../ending.ts'
import { mayBeGone, must } from './asking.ts'

const CLIENT_API = '/edge/client/v1'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

export const SESSION_ENDINGS: readonly Ending[] = [
  { name: 'nothing', ways: ['password', 'totp', 'cert', 'ca', 'claim', 'jwt', 'signed'], end: async () => undefined },
  {
    name: 'API session deleted by an administrator',
    ways: ['password', 'jwt'],
    ends: ['zt-A', 'bearer-A'],
    end: async ({ by, held }) => {
      for (const id of [held.A.ztId, held.A.tokensOf]) await mayBeGone(by.admin('DELETE', `/api-sessions/${id}`))
    },
  },
  {
    name: 'logout',
    ways: ['password'],
    ends: ['zt-A', 'bearer-A'],
    end: async ({ by, held }) => {
      const path = `${CLIENT_API}/current-api-session`
      // Who holds an expired access token is nobody, and logs nobody out.
      await must(by.ask('DELETE', path, { bearers: [held.A.tokens.access] }))
      await mayBeGone(by.ask('DELETE', path, { zt: held.A.zt }))
    },
  },
  {
    name: 'logout by id token',
    ways: ['password'],
    ends: ['bearer-A'],
    end: async ({ by, held }) => {
      await must(by.ask('GET', `/oidc/end_session?id_token_hint=${held.A.tokens.id}`))
    },
  },
  {
    name: 'refresh token taken back by its holder',
    ways: ['password'],
    ends: ['bearer-A'],
    end: async ({ by, held }) => {
      await must(by.ask('POST', '/oidc/revoke', { form: { client_id: 'openziti', token: held.A.tokens.refresh } }))
    },
  },
  {
    name: 'revocation of the identity',
    ways: ['password', 'jwt'],
    ends: ['bearer-A', 'bearer-B', 'begun'],
    end: async ({ admin, subject }) => {
      await admin('POST', '/revocations', { id: subject.id, type: 'IDENTITY' })
    },
  },
  {
    name: 'revocation of API sessions',
    ways: ['password', 'jwt'],
    ends: ['bearer-A'],
    end: async ({ admin, held }) => {
      await admin('POST', '/revocations', { id: held.A.tokensOf, type: 'API_SESSION' })
    },
  },
  {
    name: 'revocation of a token',
    ways: ['password'],
    ends: ['access-A'],
    end: async ({ admin, held }) => {
      await admin('POST', '/revocations', { id: String(decodeJwt(held.A.tokens.access).jti), type: 'JTI' })
    },
  },
  {
    name: 'refresh token used again after its time of grace',
    ways: ['password', 'jwt'],
    ends: ['bearer-A'],
    end: async ({ by, elapse, held, logins }) => {
      const isGood = (await logins.refresh(by, held.A.tokens.refresh)) !== undefined
      if (!isGood) throw new Error('the refresh token was over before')
      await elapse(MINUTE_MS)
      await logins.refresh(by, held.A.tokens.refresh)
    },
  },
  {
    name: 'authorization code used again',
    ways: ['password', 'jwt'],
    ends: ['bearer-A'],
    end: async ({ by, held, logins }) => {
      await logins.redeem(by, held.A.tokens.code, held.A.tokens.begun)
    },
  },
  {
    name: 'half an hour without use',
    ways: ['password', 'cert'],
    isForAll: true,
    ends: ['time', 'zt-A', 'zt-B', 'access-A', 'access-B', 'begun'],
    end: async ({ elapse }) => {
      await elapse(31 * MINUTE_MS)
    },
  },
  {
    name: 'half an hour without use, and without the process that made the session',
    ways: ['password'],
    isForAll: true,
    ends: ['time', 'zt-A', 'zt-B', 'access-A', 'access-B', 'begun', 'process-A'],
    end: async ({ two, elapse }) => {
      await two.A.close()
      await elapse(31 * MINUTE_MS)
    },
  },
  {
    name: 'a day without use',
    ways: ['password'],
    isForAll: true,
    ends: ['time', 'zt-A', 'zt-B', 'bearer-A', 'bearer-B', 'begun'],
    end: async ({ elapse }) => {
      await elapse(25 * HOUR_MS)
    },
  },
  {
    name: 'ten minutes of a login under way',
    ways: ['password', 'jwt'],
    isForAll: true,
    ends: ['begun'],
    end: async ({ elapse }) => {
      await elapse(11 * MINUTE_MS)
    },
  },
  {
    name: 'the process that made a session is gone',
    ways: ['password', 'jwt'],
    ends: ['process-A'],
    end: async ({ two }) => {
      await two.A.close()
    },
  },
  {
    name: 'redirect URIs without that of a login under way',
    ways: ['password'],
    ends: ['begun', 'clients'],
    end: async ({ admin }) => {
      const [{ id }] = await admin('GET', '/controllers')
      await admin('POST', '/controller-settings', {
        controllerId: id,
        oidc: { redirectUris: ['https://app.example/cb'] },
      })
    },
  },
]
