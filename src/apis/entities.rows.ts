import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../facts/access/policy.resource.ts'
import { postureChecks } from '../facts/access/posture/posture-check.resource.ts'
import { sessions } from '../facts/access/session.resource.ts'
import { configs, configTypes } from '../facts/configs/config.resource.ts'
import { authPolicies } from '../facts/credentials/auth-policy.resource.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { externalJwtSigners } from '../facts/credentials/signers/external-jwt-signer.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { revocations } from '../facts/login/revocation.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { services } from '../facts/services/service.resource.ts'
import { terminators } from '../facts/services/terminator.resource.ts'
import { crud } from '../http/operations/crud.ts'

/* The standard operations of the entities that administrators manage: list, show, create, replace, patch, delete. */
export const apiSessionEntities = crud(apiSessions)
export const authPolicyEntities = crud(authPolicies)
export const authenticatorEntities = crud(authenticators)
export const caEntities = crud(cas)
export const configTypeEntities = crud(configTypes)
export const configEntities = crud(configs)
export const edgeRouterEntities = crud(edgeRouters)
export const externalJwtSignerEntities = crud(externalJwtSigners)
export const identityEntities = crud(identities)
export const edgeRouterPolicyEntities = crud(edgeRouterPolicies)
export const serviceEdgeRouterPolicyEntities = crud(serviceEdgeRouterPolicies)
export const servicePolicyEntities = crud(servicePolicies)
export const postureCheckEntities = crud(postureChecks)
export const revocationEntities = crud(revocations)
export const serviceEntities = crud(services)
export const sessionEntities = crud(sessions)
export const terminatorEntities = crud(terminators)
