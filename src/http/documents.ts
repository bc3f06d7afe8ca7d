import { APIS } from './api.ts'
import { openApiDocument } from './openapi/document.ts'
import type { ApiDocuments } from './operations/api-documents.ts'
import { CLIENT_BASE, FABRIC_BASE, MANAGEMENT_BASE, PORTCULLIS_BASE } from './operations/paths.ts'

export type { ApiDocuments } from './operations/api-documents.ts'

/**
 * Writes the OpenAPI documents from the operations that are served, so that what is described is what there is.
 *
 * @example
 * await writeFile('management.json', JSON.stringify(apiDocuments('1.0.0').management))
 */
export function apiDocuments(version: string): ApiDocuments {
  return {
    management: openApiDocument(APIS.management, {
      title: 'Portcullis management API',
      description: 'Administers identities, services, routers, policies and posture checks of a zero-trust network.',
      version,
      basePath: MANAGEMENT_BASE,
    }),
    client: openApiDocument(APIS.client, {
      title: 'Portcullis client API',
      description: 'What an identity does for itself: enroll, authenticate, report posture, reach services.',
      version,
      basePath: CLIENT_BASE,
    }),
    fabric: openApiDocument(APIS.fabric, {
      title: 'Portcullis fabric API',
      description: 'Shows the data plane of this controller: routers, links and circuits, services and terminators.',
      version,
      basePath: FABRIC_BASE,
    }),
    portcullis: openApiDocument(APIS.portcullis, {
      title: 'Portcullis API',
      description: 'What Portcullis offers beyond the two edge APIs: explanations and simulations of access.',
      version,
      basePath: PORTCULLIS_BASE,
    }),
  }
}
