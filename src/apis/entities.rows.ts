import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from '../../resources/access/policies.ts'
import { sessions } from '../../resources/access/sessions.ts'
import { cas } from '../../resources/enrollment/cas.ts'
import { identities } from '../../resources/identities/identities.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { authPolicies } from '../../resources/login/auth-policies.ts'
import { authenticators } from '../../resources/login/authenticators.ts'
import { externalJwtSigners } from '../../resources/login/external-jwt-signers.ts'
import { revocations } from '../../resources/login/revocations.ts'
import { postureChecks } from '../../resources/posture/posture-checks.ts'
import { edgeRouters } from '../../resources/routers/edge-routers.ts'
import { terminators } from '../../resources/routers/terminators.ts'
import { configTypes } from '../../resources/services/config-types.ts'
import { configs } from '../../resources/services/configs.ts'
import { services } from '../../resources/services/services.ts'
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
