import { type ApiDescription, openApiDocument } from '../http/openapi/document.ts'
import type { ApiDocuments } from '../http/operations/operation.ts'
import { CLIENT_BASE, FABRIC_BASE, MANAGEMENT_BASE, PORTCULLIS_BASE } from '../http/pipeline/router.ts'
import { APIS } from './apis.ts'

export type { ApiDocuments }

export type ApiName = keyof ApiDocuments

/** Descriptions of the APIs, and where each is served. */
export const API_DESCRIPTIONS: Readonly<Record<ApiName, Omit<ApiDescription, 'version'>>> = {
  management: {
    title: 'Portcullis management API',
    description: 'Administers identities, services, routers, policies and posture checks of a zero-trust network.',
    basePath: MANAGEMENT_BASE,
  },
  client: {
    title: 'Portcullis client API',
    description: 'The operations of an identity for itself: enroll, authenticate, report posture, reach services.',
    basePath: CLIENT_BASE,
  },
  fabric: {
    title: 'Portcullis fabric API',
    description: 'Shows the data plane of this controller: routers, links and circuits, services and terminators.',
    basePath: FABRIC_BASE,
  },
  portcullis: {
    title: 'Portcullis API',
    description: 'The operations of Portcullis beyond the two edge APIs: explanations and simulations of access.',
    basePath: PORTCULLIS_BASE,
  },
}

/** Writes the OpenAPI documents from the operations that are served. */
export function writeApiDocuments(version: string): ApiDocuments {
  return {
    management: apiDocument('management', version),
    client: apiDocument('client', version),
    fabric: apiDocument('fabric', version),
    portcullis: apiDocument('portcullis', version),
  }
}

/** One of the {@link writeApiDocuments}. */
export function apiDocument(api: ApiName, version: string): ApiDocuments[ApiName] {
  return openApiDocument(APIS[api], { ...API_DESCRIPTIONS[api], version })
}
