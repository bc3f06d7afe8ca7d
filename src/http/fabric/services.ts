import { services } from '../../resources/services/services.ts'
import { serviceList } from '../management/services/services.ts'
import { crud } from '../operations/crud.ts'

/** Services as the management API shows them. */
export const fabricServices = { list: serviceList, get: crud(services).get } as const
