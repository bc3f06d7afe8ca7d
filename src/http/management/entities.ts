import { apiSessions } from '../../resources/api-sessions.ts'
import { authPolicies } from '../../resources/auth-policies.ts'
import { authenticators } from '../../resources/authenticators.ts'
import { cas } from '../../resources/cas.ts'
import { configTypes } from '../../resources/config-types.ts'
import { configs } from '../../resources/configs.ts'
import { edgeRouters } from '../../resources/edge-routers.ts'
import { externalJwtSigners } from '../../resources/external-jwt-signers.ts'
import { identities } from '../../resources/identities.ts'
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../../resources/policies.ts'
import { postureChecks } from '../../resources/posture-checks.ts'
import { revocations } from '../../resources/revocations.ts'
import { services } from '../../resources/services.ts'
import { sessions } from '../../resources/sessions.ts'
import { terminators } from '../../resources/terminators.ts'
import { crud } from '../operations/crud.ts'

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
