/** Requests of the APIs and their answers, for the adapters that call a controller over HTTPS. */

export { eachOf, isUntrusted, readAnswer, requestFor } from './client/answer.ts'
export { type InvitingEngine, inviteIdentity, inviteRouter } from './enrollment/invite.ts'
export { policyOfGrant } from './facts/access/access-request.rules.ts'
